//! What the fuzz target of the C interface does with a byte string; `fuzz/` includes this file. An
//! input that once made it fail is in `tests/corpus/crashes/c_interface` and is run again here.

use std::ffi::{CStr, c_char};
use std::ptr;

use job_sort_formula_c::*;

/// Compiles and scores the bytes as a formula, and reads them as a tree and as the files of
/// OpenPBS.
pub fn c_interface(data: &[u8]) {
    // SAFETY: every pointer below is to a live value of the given length, or is a handle that the
    // library has returned and that is freed once
    unsafe {
        formula(data);
        for policy in [
            c"pbs",
            c"classic",
            c"depth-oblivious",
            c"fair-tree",
            c"weighted-walk",
            c"no policy",
        ] {
            let (mut tree, mut error) = (ptr::null_mut(), ptr::null_mut());
            let status = jsf_tree_read(
                data.as_ptr().cast(),
                data.len(),
                policy.as_ptr(),
                &mut tree,
                &mut error,
            );
            take_error(status, error, data.len());
            use_tree(tree, data);
        }
        let mut parts = data.splitn(3, |&byte| byte == 0);
        let mut part = || parts.next().unwrap_or(b"Bob 10 root 5\n");
        let (group, usage, config) = (part(), part(), part());
        let (mut tree, mut error) = (ptr::null_mut(), ptr::null_mut());
        let of = |bytes: &[u8]| bytes.as_ptr().cast::<c_char>();
        let status = jsf_tree_read_pbs(
            of(group),
            group.len(),
            of(usage),
            usage.len(),
            of(config),
            config.len(),
            &mut tree,
            &mut error,
        );
        take_error(status, error, usize::MAX);
        use_tree(tree, data);
    }
}

/// # Safety
/// None: it is unsafe only because it calls the C functions.
unsafe fn formula(data: &[u8]) {
    let text: *const c_char = data.as_ptr().cast();
    // SAFETY: the text is `data`, and the handles are the library's
    unsafe {
        let schema = jsf_schema_new();
        let (mut program, mut error) = (ptr::null_mut(), ptr::null_mut());
        let status = jsf_program_compile(text, data.len(), schema, &mut program, &mut error);
        assert_eq!(status == jsf_status::Ok, !program.is_null());
        take_error(status, error, data.len());
        if !program.is_null() {
            score(program, data);
        }
        jsf_program_free(program);
        jsf_schema_free(schema);
    }
}

/// # Safety
/// The program is of the library.
unsafe fn score(program: *const jsf_program, data: &[u8]) {
    const ROWS: usize = 9;
    let integers: [i64; ROWS] = [0, 1, -1, 7, i64::MAX, i64::MIN, 3600, 2, data.len() as i64];
    let floats: [f64; ROWS] = [
        0.0,
        0.5,
        -1.0,
        1e300,
        f64::INFINITY,
        f64::NAN,
        -0.0,
        3.0,
        1e-300,
    ];
    // SAFETY: the program is the library's, and every column has `ROWS` values
    unsafe {
        let columns: Vec<jsf_column> = (0..jsf_program_input_count(program))
            .map(|index| {
                CStr::from_ptr(jsf_program_input(program, index))
                    .to_str()
                    .expect("UTF-8");
                let (kind, values) = match index % 3 {
                    0 => (jsf_kind::I64, integers.as_ptr().cast()),
                    1 => (jsf_kind::F64, floats.as_ptr().cast()),
                    _ => (jsf_kind::PbsAmount, floats.as_ptr().cast()),
                };
                jsf_column {
                    name: ptr::null(),
                    kind: kind as u32,
                    values,
                    rows: ROWS,
                    entity_values: ptr::null(),
                    entities: 0,
                }
            })
            .collect();
        let (mut scores, mut failed, mut failures) = ([0.0; ROWS], [0; ROWS], 0);
        let (scratch, mut error) = (jsf_scratch_new(), ptr::null_mut());
        let status = jsf_program_score(
            program,
            scratch,
            columns.as_ptr(),
            columns.len(),
            ROWS,
            scores.as_mut_ptr(),
            failed.as_mut_ptr(),
            &mut failures,
            &mut error,
        );
        take_error(status, error, data.len());
        if status == jsf_status::Ok {
            assert_eq!(
                failures,
                failed.iter().filter(|&&failed| failed != 0).count()
            );
            for (row, &failed) in failed.iter().enumerate() {
                let (mut reason, mut error) = (ptr::null_mut(), ptr::null_mut());
                let status =
                    jsf_program_error_of_row(program, scratch, row, &mut reason, &mut error);
                take_error(status, error, data.len());
                assert_eq!(
                    (status, jsf_error_failure(reason) as u8),
                    (jsf_status::Ok, failed),
                    "row {row}"
                );
                take_error(
                    if failed == 0 {
                        jsf_status::Ok
                    } else {
                        jsf_status::Evaluation
                    },
                    reason,
                    data.len(),
                );
                let kinds = [jsf_kind::I64, jsf_kind::F64, jsf_kind::PbsAmount];
                let value = |index: usize| jsf_value {
                    kind: kinds[index % 3] as u32,
                    integer: integers[row],
                    real: floats[row],
                };
                let values: Vec<jsf_value> = (0..columns.len()).map(value).collect();
                let (mut score, mut error) = (0.0, ptr::null_mut());
                let status = jsf_program_evaluate(
                    program,
                    scratch,
                    values.as_ptr(),
                    values.len(),
                    &mut score,
                    &mut error,
                );
                assert_eq!(
                    (score.to_bits(), jsf_error_failure(error) as u8),
                    (scores[row].to_bits(), failed)
                );
                take_error(status, error, data.len());
                logged(score);
            }
            let mut order = [0; ROWS];
            let status = jsf_top(
                scores.as_ptr(),
                ROWS,
                ROWS,
                order.as_mut_ptr(),
                ptr::null_mut(),
            );
            order.sort_unstable();
            assert!(
                status == jsf_status::Ok
                    && order
                        .iter()
                        .zip(0..)
                        .all(|(&row, expected)| row == expected)
            );
        }
        jsf_scratch_free(scratch);
    }
}

/// The text of a score is the number that is read again.
///
/// # Safety
/// None: it is unsafe only because it calls the C functions.
unsafe fn logged(score: f64) {
    let mut text = ptr::null_mut();
    // SAFETY: the text is the library's
    unsafe {
        assert_eq!(
            jsf_logged_score(score, &mut text, ptr::null_mut()),
            jsf_status::Ok
        );
        let read: f64 = CStr::from_ptr(text)
            .to_str()
            .expect("UTF-8")
            .parse()
            .expect("a number");
        let expected = jsf_round_amount(jsf_round_to_float32(score), ptr::null_mut());
        assert!(
            read == expected || read.is_nan() && score.is_nan(),
            "{read} for {score}"
        );
        jsf_string_free(text);
    }
}

/// # Safety
/// The tree is null or of the library, and is not used afterwards.
unsafe fn use_tree(tree: *mut jsf_tree, data: &[u8]) {
    if tree.is_null() {
        return;
    }
    let (mut shares, mut error) = (jsf_shares::default(), ptr::null_mut());
    // SAFETY: the tree is the library's, and the name has the length that is passed
    unsafe {
        let (name, length) = (data.as_ptr().cast(), data.len().min(64));
        let status = jsf_tree_shares(tree, name, length, &mut shares, &mut error);
        take_error(status, error, usize::MAX);
        jsf_tree_free(tree);
    }
}

/// An error has a text, and a place inside of the formula; there is one exactly if the status is
/// none of success.
///
/// # Safety
/// The error is null or of the library, and is not used afterwards.
unsafe fn take_error(status: jsf_status, error: *mut jsf_error, length: usize) {
    assert_eq!(status == jsf_status::Ok, error.is_null(), "{status:?}");
    assert_ne!(status, jsf_status::Internal);
    if error.is_null() {
        return;
    }
    let (mut start, mut end) = (0, 0);
    // SAFETY: the error is the library's
    unsafe {
        assert!(
            !CStr::from_ptr(jsf_error_message(error))
                .to_str()
                .expect("UTF-8")
                .is_empty()
        );
        if jsf_error_span(error, &mut start, &mut end) {
            assert!(
                start <= end && end as usize <= length,
                "{start}..{end} of {length}"
            );
        }
        jsf_error_free(error);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn inputs_that_once_failed_pass() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/crashes/c_interface");
        let files = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("an entry").path());
        files.for_each(|file| super::c_interface(&fs::read(file).expect("a file")));
        for input in [
            &b""[..],
            b"ncpus / walltime + fairshare_factor",
            b"1 +",
            b"\xff\0\xff",
            b"Bob 10 root 5\nSuzy 11 root 7\n\0PBS_MAG!\0\0\0fair_share: true\n",
            br#"{"children":[{"name":"Bob","shares":50,"usage":100},{"name":"Suzy","shares":"parent"}]}"#,
        ] {
            super::c_interface(input);
        }
    }
}
