use super::*;

#[test]
fn a_file_is_recognized_by_its_content() {
    for (text, expected) in [
        (" \n", FileKind::Empty),
        ("# nothing\n", FileKind::Empty),
        ("{\"pbs_version\":\"1\",\"Jobs\":{", FileKind::QstatJson),
        ("{\"Server\":{\"vm\":{}}}", FileKind::Server),
        (
            "{\"children\":[{\"name\":\"a\",\"shares\":1}]}",
            FileKind::NativeTree,
        ),
        ("{\"shares\":1,\"children\":[]}", FileKind::NativeTree),
        (
            "{\"meta\":{},\"shares\":{\"shares\":[]}}",
            FileKind::SlurmTree,
        ),
        ("{\"id\":\"1\"}\n{\"id\":\"2\"}", FileKind::JobLines),
        ("{\"a\":1}", FileKind::Json),
        (
            "Job id            Name             User\n----",
            FileKind::JobSummary,
        ),
        (
            "Job ID          Username Queue    Jobname\n",
            FileKind::JobSummary,
        ),
        ("qstat: Unauthorized Request\n", FileKind::CommandError),
        ("$ qstat -Qf\nQueue: workq\n    a = 1\n", FileKind::Queues),
        ("{\"timestamp\":1,\"nodes\":{\"vm\":{", FileKind::Nodes),
        (
            "$ pbsnodes -av\nvm\n     Mom = vm\n     ntype = PBS\n",
            FileKind::Nodes,
        ),
        ("Name=vm|Mom=vm|ntype=PBS\n", FileKind::Nodes),
        (
            "Resv ID: R1.srv\nReserve_Name = NULL\nreserve_state = RESV_CONFIRMED\n",
            FileKind::Reservations,
        ),
        ("Node vm\n    Mom = vm\n", FileKind::Qmgr),
        ("create node vm Mom=vm\n", FileKind::Qmgr),
        ("set server scheduling = True\n", FileKind::Qmgr),
        ("Resource a\n    type = long\n", FileKind::Qmgr),
        ("group1 100 root 40\n", FileKind::ResourceGroup),
        ("ngpus type=long flag=hn\n", FileKind::ResourceDef),
        (
            "# a comment\nround_robin: False all\n",
            FileKind::SchedConfig,
        ),
        (
            "ClusterName=x\nPriorityType=priority/multifactor\n",
            FileKind::SlurmConf,
        ),
        (
            "PriorityDecayHalfLife   = 14-00:00:00\n",
            FileKind::SlurmConf,
        ),
        (
            "04/17/2026 10:15:00;0400;pbs_sched;Job;1.vm;x\n",
            FileKind::Log,
        ),
        ("PBS_MAG!", FileKind::Usage),
        ("ncpus * 2 if queue_priority == 1 else 0", FileKind::Text),
        ("job_sort_formula = ncpus", FileKind::Text),
        ("a\u{0}\u{1}b", FileKind::Binary),
    ] {
        assert_eq!(FileKind::detect(text.as_bytes()), expected, "{text:?}");
    }
}
