//! Fair-share numbers that six decimals do not show.

use crate::diagnostic::Diagnostic;
use crate::fairshare::{EntityShares, FairShare};
use crate::formula::syntax::Expr;
use crate::jobs::JobTable;
use crate::pbs::fairshare_format::as_formula_sees;
use crate::pbs::site_findings::{counted, listed, place_of};
use crate::rank::fairshare_number;
use crate::schema::FairshareInput;

/// A finding for each fair-share name whose number is above 0 for some entity and yet printed as 0.
pub(in crate::pbs) fn shares(expr: &Expr, table: &JobTable, backend: &dyn FairShare) -> Vec<Diagnostic> {
    let entities = table.entities();
    let shares: Vec<_> = entities.iter().map(|entity| backend.shares_of(entity)).collect();
    let finding = |(name, input): (&str, FairshareInput)| {
        let place = place_of(expr, name)?;
        let vanishes = |shares: &EntityShares| {
            let share = fairshare_number(input, shares);
            share > 0.0 && as_formula_sees(share) == 0.0
        };
        let gone: Vec<_> =
            entities.iter().zip(&shares).filter(|(_, shares)| shares.as_ref().is_some_and(vanishes)).collect();
        let (_, first) = gone.first()?;
        let least = first.as_ref().map_or(0.0, |first| fairshare_number(input, first));
        let (entities, names) =
            (counted(gone.len(), "entity", "entities"), listed(gone.len(), gone.iter().map(|(entity, _)| entity)));
        let message = format!("the `{name}` of {entities} is printed as 0.000000: {names}");
        Some(Diagnostic::warning("JSF501", message, place).with_label(format!("{least:.3e} in the tree")).with_help(
            "the scheduler hands fair-share numbers over with six decimals; give such entities more shares, or bound the \
             name from below: `max(…, 1e-6)`",
        ))
    };
    FairshareInput::NAMES.into_iter().filter_map(finding).collect()
}
