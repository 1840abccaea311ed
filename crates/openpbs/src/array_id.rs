//! The ids of arrays, such as `12[].vm`, and of their subjobs, such as `12[3].vm`.

/// Whether an id is that of an array.
pub fn is_array(id: &str) -> bool {
    id.split('.')
        .next()
        .is_some_and(|number| number.ends_with("[]"))
}

/// The id of the array of a subjob, and the index of the subjob; `None` for an id of another job.
///
/// ```
/// use jsf_openpbs::array_id::array_and_index;
///
/// assert_eq!(array_and_index("12[3].vm"), Some(("12[].vm".to_owned(), 3)));
/// assert_eq!(array_and_index("12[].vm"), None);
/// ```
pub fn array_and_index(id: &str) -> Option<(String, u32)> {
    let (number, rest) = id.split_once('[')?;
    let (index, server) = rest.split_once(']')?;
    Some((format!("{number}[]{server}"), index.parse().ok()?))
}
