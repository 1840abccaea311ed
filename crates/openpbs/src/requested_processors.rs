//! The number of processors in what PBS and Torque write of a job's request and of its hosts.

/// The processors of a `select` such as `2:ncpus=8+ncpus=1`; `None` if it does not say.
pub fn of_select(select: &str) -> Option<i64> {
    total(select.split('+').map(|chunk| {
        let ncpus = chunk
            .split(':')
            .find_map(|part| part.strip_prefix("ncpus=")?.parse::<i64>().ok())?;
        count(chunk).checked_mul(ncpus)
    }))
}

/// The processors of Torque's `nodes`, such as `4:ppn=8:bigmem+node7:ppn=2#shared`: of a chunk
/// without a number one node, of a node without `ppn` one processor; `None` for an empty text.
pub fn of_nodes(nodes: &str) -> Option<i64> {
    let nodes = nodes.split('#').next().filter(|nodes| !nodes.is_empty())?;
    total(nodes.split('+').map(|chunk| {
        let processors = chunk.split(':').find_map(|part| part.strip_prefix("ppn="));
        count(chunk).checked_mul(processors.map_or(Some(1), |ppn| ppn.parse().ok())?)
    }))
}

/// The processors of an `exec_vnode` such as `(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)`.
pub fn of_exec_vnode(vnodes: &str) -> Option<i64> {
    let parts = vnodes
        .split(['(', ')', '+', ':'])
        .filter_map(|part| part.strip_prefix("ncpus="));
    total(parts.map(|ncpus| ncpus.parse().ok()))
}

/// The processors of an `exec_host`: OpenPBS writes `vn1/0*4+vn2/1`, Torque `n1/0+n1/1` or
/// `n1/0-5,7+n2/0`.
pub fn of_exec_host(hosts: &str) -> Option<i64> {
    if hosts.is_empty() {
        return None;
    }
    total(hosts.split('+').map(|host| {
        let Some((_, slots)) = host.split_once('/') else {
            return Some(1);
        };
        match slots.split_once('*') {
            Some((_, ncpus)) => ncpus.parse().ok(),
            None => slots.split(',').map(slots_in).sum(),
        }
    }))
}

/// The number of slots in a range such as `0-5`, or in the number of one slot.
fn slots_in(range: &str) -> Option<i64> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    last.parse::<i64>()
        .ok()?
        .checked_sub(first.parse().ok()?)?
        .checked_add(1)
}

/// How often a chunk is asked for.
fn count(chunk: &str) -> i64 {
    chunk
        .split(':')
        .next()
        .and_then(|first| first.parse().ok())
        .unwrap_or(1)
}

/// The sum of the parts if it is positive and all parts are known.
fn total(mut parts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    parts
        .try_fold(0_i64, |sum, part| sum.checked_add(part?))
        .filter(|sum| *sum > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(of_select("2:ncpus=8:mem=1gb+ncpus=1"), Some(17));
        assert_eq!([of_select("2:mem=1gb"), of_select("")], [None, None]);
        let nodes = [
            "4:ppn=8",
            "a+b:ppn=2",
            "4:bigmem:ppn=8+1:ppn=2:gpus=1#shared",
            "4",
            "node7",
            "1:ppn=x",
            "",
        ];
        assert_eq!(
            nodes.map(of_nodes),
            [Some(32), Some(3), Some(34), Some(4), Some(1), None, None]
        );
    }

    #[test]
    fn hosts() {
        let hosts = [
            "n/0+n/1+m/0",
            "2/0-31+3/0-31",
            "n/0-2,5",
            "napali",
            "vn1/0*4+vn2/1",
            "vn1/0*0",
            "n/x",
            "",
        ];
        let slots = [
            Some(3),
            Some(64),
            Some(4),
            Some(1),
            Some(5),
            None,
            None,
            None,
        ];
        assert_eq!(hosts.map(of_exec_host), slots);
        assert_eq!(
            of_exec_vnode("(vn1:ncpus=4:mem=1gb)+(vn2:ncpus=1+vn3:ncpus=1)"),
            Some(6)
        );
        assert_eq!(
            [of_exec_vnode("(vn1:mem=1gb)"), of_exec_vnode("")],
            [None, None]
        );
    }
}
