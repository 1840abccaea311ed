use crate::fairshare::{Member, Naming, TreeBuilder};
use crate::slurm::load_file::*;
use crate::slurm::read_tree;

fn told(file: &LoadFile) -> Vec<String> {
    file.losses.iter().map(ToString::to_string).collect()
}

#[test]
fn what_slurm_cannot_hold_is_written_otherwise_and_said() {
    let mut builder = TreeBuilder::new("TREEROOT").naming(Naming::PerGroup).lenient();
    let top = builder.root();
    let physics = builder.add(top, Member::group("Physics").shares(-5)).expect("room");
    builder.add(top, Member::group("physics").shares(3_000_000_000)).expect("room");
    builder.add(physics, Member::entity("O'Hara").usage(7.0)).expect("room");
    builder.add(physics, Member::entity("o_hara").shares_of_parent()).expect("room");
    builder.add(physics, Member::entity("Bob")).expect("room");
    let file = load_file(&AssociationTree::of(&builder.finish()), "Here");
    assert_eq!(
        file.text,
        "Cluster - 'here':Fairshare=1\nParent - 'root'\n\
         Account - 'physics':Description='physics':Organization='physics':Fairshare=1\n\
         Account - 'physics_2':Description='physics_2':Organization='physics_2':Fairshare=2147483646\n\
         Parent - 'physics'\nUser - 'O_Hara':DefaultAccount='physics':Fairshare=1\n\
         User - 'o_hara_2':DefaultAccount='physics':Fairshare=parent\n\
         User - 'Bob':DefaultAccount='physics':Fairshare=1\n"
    );
    assert_eq!(
        told(&file),
        [
            "`Physics` in `TREEROOT` becomes `physics`",
            "`physics` in `TREEROOT` becomes `physics_2`",
            "`O'Hara` in `Physics` becomes `O_Hara`",
            "`o_hara` in `Physics` becomes `o_hara_2`",
            "user `Bob` becomes lower case unless slurmdbd has PreserveCaseUser",
            "`Physics` has -5 shares, of which Slurm takes 1",
            "`physics` has 3000000000 shares, of which Slurm takes 2147483646",
            "the usage of one association is left behind: a file for `sacctmgr load` holds none",
            "a new cluster has a user `root` in account `root` with 1 share, which counts among the top accounts",
        ]
    );
    read_tree("written", file.text.as_bytes()).expect("what is written can be read");
}

#[test]
fn partitions_and_the_default_account_are_written() {
    let text = "Cluster - c\nAccount - a\nAccount - b\nParent - a\nUser - ann:Partition='x:y':Fairshare=2\nUser - ann\n\
        Parent - b\nUser - ann:Fairshare=parent\n";
    let tree = read_tree("hand.cfg", text.as_bytes()).expect("sound");
    let file = load_file(&tree, "c");
    assert!(file.text.contains("User - 'ann':Partition='x:y':DefaultAccount='a':Fairshare=2\n"), "{}", file.text);
    assert!(file.text.ends_with("Parent - 'b'\nUser - 'ann':DefaultAccount='a':Fairshare=parent\n"), "{}", file.text);
    let again = read_tree("written", file.text.as_bytes()).expect("sound");
    assert_eq!(again.nodes, tree.nodes);
    assert_eq!(tree.share_tree().expect("sound").len(), 6);
}
