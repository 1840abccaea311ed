# Builds jsf from the source archive of a release, which has all crates, without a network.
# packaging/build.sh fills in the version and the sum.
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cargo import CargoPackage
except ImportError:
    # Spack before 1.0 has it in `spack.package`
    pass


class JobSortFormula(CargoPackage):
    """Says what a PBS job_sort_formula does to a queue before the scheduler does it: checks,
    ranks, explains, compares and simulates."""

    # the archive is beside this file, see `url_for_version`
    url = "file:///job-sort-formula-@VERSION@-source.tar.gz"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    def url_for_version(self, version):
        return f"file://{join_path(self.package_dir, f'job-sort-formula-{version}-source.tar.gz')}"

    def setup_build_environment(self, env):
        env.set("CARGO_PROFILE_DIST_DEBUG", "none")
        env.set("CARGO_PROFILE_DIST_STRIP", "symbols")

    def build(self, spec, prefix):
        with working_dir(self.build_directory):
            cargo("build", "--profile", "dist", "--frozen", "--package", "jsf", "-j", str(make_jobs))

    def install(self, spec, prefix):
        with working_dir(self.build_directory):
            Executable("packaging/install.sh")("target/dist/jsf", prefix)

    def check(self):
        with working_dir(self.build_directory):
            cargo("test", "--release", "--frozen", "--package", "jsf")

    def test_rank(self):
        """the queue of the examples has its order"""
        jsf = which(self.prefix.bin.jsf)
        with working_dir(self.prefix.share.doc.join("job-sort-formula")):
            out = jsf(
                "rank",
                "--formula-file",
                "examples/formulas/pp718.txt",
                "--queue",
                "examples/site/qstat.json",
                "--sched-priv",
                "examples/site/sched_priv",
                output=str.split,
                error=str.split,
            )
        check_outputs(r"1  184794\.kestrel", out)
