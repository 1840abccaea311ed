//! What the files of a site say of the server, its queues, its resources and its scheduler.
//!
//! In: the files of a site. Out: the schema, the queues, the settings of the server and of the
//! scheduler, the Python that the server embeds, and the warnings about these files.

pub mod scheduler_settings;
pub mod server_documents;
pub mod server_python;
pub mod site_constants;
