// aqtune as users run it: it measures, writes a file and a page, and later jobs use the file.

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace aqueduct::integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAqtune = AQUEDUCT_BIN_DIR "/aqtune --ops broadcast --bytes 64,1K --seconds 3 ";

std::string text_of_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Aqtune, WritesDecisionsAndAPage) {
  const support::ScratchFolder folder;
  const std::string page = (folder / "tuning.html").string();
  AqrunJob job(shell(
      {"-n", "2"}, "exec " + std::string(kAqtune) + "--json --out " + folder.path() + "/ --report " + page));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_THAT(job.out(), HasSubstr(R"("operation": "broadcast", "ranks": 2, "bytes": 1024, "algorithm": ")"));
  EXPECT_EQ(job.err(), "");
  EXPECT_THAT(text_of_file(page),
              AllOf(HasSubstr("<h2>broadcast in mapped memory</h2>"), HasSubstr("</html>")));

  // A job that reads the folder reads it without a warning.
  AqrunJob next(
      shell({"-n", "2", "-e", "AQUEDUCT_COLL_TUNING=" + folder.path()}, "exec " AQUEDUCT_BIN_DIR "/kmeans"));
  EXPECT_EQ(next.status(), 0) << next.err();
  EXPECT_EQ(next.err(), "");
}

TEST(Aqtune, ExhaustiveSaysWhatTheChoicesCost) {
  const support::ScratchFolder folder;
  const std::string command = "exec " + std::string(kAqtune) + "--exhaustive 4 --out " + folder.path() + "/";
  AqrunJob job(shell({"-n", "3"}, command));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_THAT(job.out(), AllOf(HasSubstr("\n2 keys; "), HasSubstr("within 5 % of the fastest in "),
                               HasSubstr("(noise "), HasSubstr("written: ")));
  AqrunJob json(shell({"-n", "3"}, command + " --json"));
  EXPECT_EQ(json.status(), 0) << json.err();
  EXPECT_THAT(json.out(), AllOf(HasSubstr(R"(, "element": 1, "compared": )"), HasSubstr(R"(, "regret": )"),
                                Not(HasSubstr("keys;"))));
  AqrunJob wrong(shell({"-n", "1"}, "exec " + std::string(kAqtune) + "--exhaustive 1"));
  EXPECT_EQ(wrong.status(), 2);
}

// Each process has settings and files of its own. Rank 0's count; the other's wrong file is not even read.
TEST(Aqtune, OnHostsThatDifferInFilesAndSettingsChoosesAlike) {
  const support::ScratchFolder folder;
  const std::string wrong = (folder / "wrong.json").string();
  std::ofstream(wrong) << "shopping list";
  for (const char* const other : {"1", "0"}) {
    AqrunJob job(
        shell({"-n", "3"}, "[ $p = " + std::string(other) + " ] && export AQUEDUCT_COLL_TUNING=" + wrong +
                               " AQUEDUCT_COLL_CHOICE=auto || export AQUEDUCT_COLL_CHOICE=rules; exec " +
                               kAqtune + "--out " + folder.path() + "/"));
    EXPECT_EQ(job.status(), 0) << job.err();
    EXPECT_THAT(job.err(), other[0] == '0' ? HasSubstr("AQUEDUCT_COLL_TUNING: " + wrong + ": it is damaged")
                                           : testing::Matcher<const std::string&>(Not(HasSubstr(wrong))));
  }
}

// A search may take an hour.
TEST(Aqtune, EndsBeforeTheSearchIfNothingCanBeSaved) {
  const support::ScratchFolder folder;
  const std::string foreign = (folder / "foreign.json").string();
  std::ofstream(foreign)
      << R"({"format": "aqueduct-tuning", "version": 1, "machine": "another", "conduit": "smp",
    "decisions": []})";
  std::ofstream((folder / "file").string()) << "no folder";
  for (const auto& [out, why] :
       {std::pair{foreign, std::string("is not changed: it is of another kind of machine")},
        std::pair{(folder / "file").string() + "/", std::string("/file cannot be made: ")}}) {
    AqrunJob job(shell({"-n", "2"}, "exec " + std::string(kAqtune) + "--out " + out));
    EXPECT_EQ(job.status(), 2) << job.err();
    EXPECT_THAT(job.err(), AllOf(HasSubstr("aqtune: --out: "), HasSubstr(why)));
    EXPECT_THAT(job.out(), Not(HasSubstr("broadcast"))) << "it has searched";
  }
}

TEST(Aqtune, FailsIfThereIsNothingToReport) {
  const support::ScratchFolder folder;
  const std::string page = (folder / "tuning.html").string();
  for (const bool report : {true, false}) {
    AqrunJob job(shell({"-n", "2", "-e", "AQUEDUCT_COLL_BROADCAST=chain"},
                       "exec " + std::string(kAqtune) + "--out " + folder.path() + "/" +
                           (report ? " --report " + page : "")));
    EXPECT_EQ(job.status(), report ? 1 : 0) << job.err();
    EXPECT_THAT(job.err(),
                HasSubstr("2 sizes were left out: a setting (AQUEDUCT_COLL_…) names their algorithm"));
    EXPECT_THAT(job.err(), Not(HasSubstr("more --seconds")));
    if (report) {
      EXPECT_THAT(job.err(), HasSubstr("nothing was tuned, so " + page + " is not written"));
    }
  }
}

TEST(Aqtune, SaysWhatIsWrong) {
  for (const auto& [arguments, why] :
       {std::pair{"--ops dance", "there is no operation 'dance'"}, std::pair{"--nope", "--nope"},
        std::pair{"--seed x", "--seed"}, std::pair{"--seconds nan", "--seconds is a number"},
        std::pair{"--require 5,5,5", "--require is for --regret"},
        std::pair{"--regret --noise nan --models 1", "--noise is a number"},
        std::pair{"--regret --require nan --models 1", "--require has numbers"},
        std::pair{"--ranks 3", "--ranks 3, but the launcher started 1"},
        std::pair{"--conduit nothing", "but the launcher's setting is AQUEDUCT_CONDUIT="},
        std::pair{"--report /none/x.html", "--report /none/x.html: it cannot be written"},
        std::pair{"--report x.pdf", "its name ends in .html"},
        std::pair{"--bytes 1K:8", "the first is greater"},
        std::pair{"--from /none.json", "say where the page goes by --report"},
        std::pair{"--from /none.json --report /tmp/x.html", "--from: /none.json cannot be read"},
        std::pair{"--from /tmp --report /tmp/x.html", "--from: /tmp cannot be read: it is a folder"}}) {
    AqrunJob job(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/aqtune " + std::string(arguments)));
    EXPECT_EQ(job.status(), 2) << job.err();
    EXPECT_THAT(job.err(), HasSubstr(why));
  }
}

// They start no job, but end as the tools that do.
TEST(ToolsWithoutAJob, EndWithTwoOnWrongUsage) {
  for (const auto& [command, why] :
       {std::pair{"aqsim curves foo", "foo"}, std::pair{"aqsim broadcast --cores 0", "--cores"},
        std::pair{"aqsim broadcast --compute nan", "--compute and --late are numbers"},
        std::pair{"aqsim broadcast --late nan", "--compute and --late are numbers"},
        std::pair{"aqsim barrier --ranks 8 --plot /no/folder.html", "/no/folder.html cannot be written"},
        std::pair{"aqsim barrier --ranks 8 --plot x.pdf", "ends in .svg or .html"},
        std::pair{"aqconform --plugin /etc/passwd", "/etc/passwd cannot be loaded"},
        std::pair{"aqconform --limit 0", "--limit: Value 0 not in range 1 to 86400"},
        std::pair{"aqtune --from /dev/zero --report page.html", "--from: /dev/zero is no file"},
        std::pair{"aqtune --out /dev/full", "--out: /dev/full is neither a file nor a folder"},
        std::pair{"aqtune --ops broadcast --bytes 8", "a team of one has nothing to tune"},
        std::pair{"aqcheck --nope", "--nope"},
        // What begins like a number is none.
        std::pair{"aqcheck --ranks 3,7", "--ranks: ranks are given as A:B"},
        std::pair{"aqcheck --ranks 2:3x", "--ranks: ranks are given as A:B"},
        std::pair{"aqcheck --ranks 4294967297", "--ranks: ranks are given as A:B"},
        std::pair{"aqcheck --ranks -4294967295", "--ranks"},
        std::pair{"aqrun -n 010 true", "-n: 010 begins with 0"},
        std::pair{"aqrun -n 0x4 true", "-n: 0x4 begins with 0"},
        std::pair{"aqrun -n 2 --endpoints 02 true", "--endpoints: 02 begins with 0"},
        std::pair{"aqperf barrier --ranks 010", "--ranks: 010 begins with 0"},
        std::pair{"aqtune --ranks 010", "--ranks: 010 begins with 0"},
        std::pair{"aqinfo --collectives --ranks 010", "--ranks: 010 begins with 0"},
        std::pair{"aqsim all_gather --ranks-per-host 010", "--ranks-per-host: 010 begins with 0"},
        std::pair{"aqsim broadcast --root 010", "--root: 010 begins with 0"},
        std::pair{"aqsim broadcast --root=-1", "--root: '-1' is no such number"},
        std::pair{"aqsim broadcast --seed=-1", "--seed: '-1' is no such number"},
        std::pair{"aqsim broadcast --seed 18446744073709551616", "larger than any number here"},
        std::pair{"aqsim broadcast --seed ' 1'", "--seed: ' 1' is no such number"},
        std::pair{"aqsim broadcast --times 0x10", "--times: 0x10 begins with 0"},
        std::pair{"aqsim broadcast --element +8", "--element: '+8' is no such number"},
        std::pair{"aqsim broadcast --links 2x", "--links: '2x' is no such number"},
        std::pair{"aqsim broadcast --cores 02", "--cores: 02 begins with 0"},
        std::pair{"aqsim broadcast --most-messages=-5", "--most-messages: '-5' is no such number"},
        std::pair{"aqsim broadcast --compute 0x10", "--compute: '0x10' is no such number"},
        std::pair{"aqsim broadcast --late 1e999", "--late: '1e999' is no such number"},
        std::pair{"aqsim broadcast --noise 0x10:5", "noise is PERIOD:LENGTH"},
        std::pair{"aqsim broadcast --noise '1000: 5'", "noise is PERIOD:LENGTH"},
        std::pair{"aqsim broadcast --noise 1000:5us", "noise is PERIOD:LENGTH"},
        std::pair{"aqcheck --share 010", "--share: 010 begins with 0"},
        std::pair{"aqcheck --seed=-1", "--seed: '-1' is no such number"},
        std::pair{"aqinfo --collectives --cores 010", "--cores: 010 begins with 0"},
        std::pair{"aqperf barrier --repeat 010", "--repeat: 010 begins with 0"},
        std::pair{"aqperf put-rate --window 010", "--window: 010 begins with 0"},
        std::pair{"aqperf put-rate --peers 010", "--peers: 010 begins with 0"},
        std::pair{"aqperf am-threads --callers 010", "--callers: 010 begins with 0"},
        std::pair{"aqperf am-threads --spinners 010", "--spinners: 010 begins with 0"},
        std::pair{"aqperf coll-barrier --in-flight 010", "--in-flight: 010 begins with 0"},
        std::pair{"aqperf barrier --seconds 0x1", "0x1 is not a number from 0.001 to 3600"},
        std::pair{"aqtune --candidates 010", "--candidates: 010 begins with 0"},
        std::pair{"aqtune --exhaustive 010", "--exhaustive: 010 begins with 0"},
        std::pair{"aqtune --seconds 0x10", "--seconds: '0x10' is no such number"},
        std::pair{"aqtune --regret --models 010", "--models: 010 begins with 0"},
        std::pair{"aqtune --regret --keys 010", "--keys: 010 begins with 0"},
        std::pair{"aqtune --regret --calls 010", "--calls: 010 begins with 0"},
        std::pair{"aqtune --regret --seed=-1", "--seed: '-1' is no such number"},
        std::pair{"aqtune --regret --noise 0x1", "--noise: '0x1' is no such number"},
        std::pair{"aqrun -n 2 --grace 0x10 true", "--grace: '0x10' is no such number"},
        std::pair{"aqrun -n 2 --timeout +1 true", "--timeout: '+1' is no such number"},
        std::pair{"aqrun -n 2 --connect-timeout ' 1' true", "--connect-timeout: ' 1' is no such number"},
        std::pair{"aqconform --ranks 010 --list", "--ranks: 010 begins with 0"},
        std::pair{"aqconform --seed=-1 --list", "--seed: '-1' is no such number"},
        std::pair{"aqconform --limit 010 --list", "--limit: 010 begins with 0"},
        std::pair{"aqconform --thorough 010 --list", "--thorough: 010 begins with 0"},
        std::pair{"aqcheck --share 2 --seed 4294967296", "not in range 0 to 4294967295"},
        std::pair{"aqconform --thorough 0 --list", "--thorough: Value 0 not in range 1 to 1000000"},
        // An option that would change nothing.
        std::pair{"aqcheck --ranks 2 --seed 1", "--seed requires --share"},
        std::pair{"aqtune --models 2", "--models requires --regret"},
        std::pair{"aqtune --regret --ranks 2", "--ranks"},
        std::pair{"aqtune --regret --report x.html", "--report"},
        std::pair{"aqtune --from x --report x.html --seconds 1", "--from"},
        std::pair{"aqsim curves --ranks 5", "curves simulates nothing that --ranks is for: leave it out"},
        std::pair{"aqsim --networks --bytes 8", "--networks simulates nothing that --bytes is for"},
        std::pair{"aqsim barrier --bytes 8", "a barrier moves no bytes: leave out --bytes"},
        std::pair{"aqsim broadcast --network torus --profile x", "--network"},
        // Nothing was looked at.
        std::pair{"aqcheck --scratch --ranks 1", "teams of at least two members"},
        std::pair{"aqcheck --scratch --ranks 1 --mutations", "teams of at least two members"},
        // A value that is empty is not an option that was left out.
        std::pair{"aqsim barrier --ranks ''", "--ranks: it has no value"},
        std::pair{"aqsim broadcast --bytes ''", "--bytes: it has no value"},
        std::pair{"aqsim scatter_v --counts ''", "--counts: it has no value"},
        std::pair{"aqsim barrier --hosts ''", "--hosts: it has no value"},
        std::pair{"aqsim broadcast --sync ''", "--sync: it has no value"},
        std::pair{"aqsim broadcast --tree ''", "--tree: it has no value"},
        std::pair{"aqsim broadcast --noise ''", "--noise: it has no value"},
        std::pair{"aqsim broadcast --seed ''", "--seed: it has no value"},
        std::pair{"aqsim broadcast --root ''", "--root: it has no value"},
        std::pair{"aqsim broadcast --most-messages ''", "--most-messages: it has no value"},
        std::pair{"aqtune --regret --seed ''", "--seed: it has no value"},
        std::pair{"aqcheck --seed ''", "--seed: it has no value"},
        std::pair{"aqcheck --algorithm ''", "--algorithm: it has no value"},
        std::pair{"aqsim barrier --profile ''", "--profile: it has no value"},
        std::pair{"aqsim barrier --trace ''", "--trace: it has no value"},
        std::pair{"aqsim barrier --plot ''", "--plot: it has no value"},
        std::pair{"aqrun -n 2 --hosts '' true", "--hosts: it has no value"},
        std::pair{"aqrun -n 2 --conduit '' true", "--conduit: it has no value"},
        std::pair{"aqrun -n 2 --hosts /etc/hosts --remote '' true", "--remote: it has no value"},
        std::pair{"aqrun -n 2 --hosts /etc/hosts --remote-aqrun '' true", "--remote-aqrun: it has no value"},
        std::pair{"aqperf barrier --conduit ''", "--conduit: it has no value"},
        std::pair{"aqperf calibrate --profile ''", "--profile: it has no value"},
        std::pair{"aqconform --conduit '' --list", "--conduit: it has no value"},
        std::pair{"aqconform --fabric '' --list", "--fabric: it has no value"},
        std::pair{"aqconform --fabric , --gtest_filter=none", "there is no fabric whose name contains ','"},
        std::pair{"aqtune --conduit ''", "--conduit: it has no value"},
        std::pair{"aqtune --out ''", "--out: it has no value"},
        std::pair{"aqtune --report ''", "--report: it has no value"},
        std::pair{"aqtune --from ''", "--from: it has no value"},
        std::pair{"aqinfo --collectives --bytes ''", "--bytes: it has no value"},
        std::pair{"aqperf put-latency --bytes ''", "--bytes: it has no value"},
        std::pair{"aqperf put-latency --seconds ''", "--seconds"}, std::pair{"aqtune --bytes ''", "--bytes"},
        std::pair{"aqtune --types ''", "--types"}, std::pair{"aqtune --regret --members ''", "--members"},
        std::pair{"aqtune --regret --require ''", "--require"}, std::pair{"aqcheck --ranks ''", "--ranks"}}) {
    AqrunJob job(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/" + std::string(command)));
    EXPECT_EQ(job.status(), 2) << command << ": " << job.err();
    EXPECT_THAT(job.err(), HasSubstr(why));
  }
}

TEST(Tools, FailIfTheirOutputIsNotTaken) {
  for (const char* const command :
       {"aqperf --help", "aqtune --regret --models 1 --members 2 --json", "aqconform --list",
        "aqconform --help", "aqrun --version", "aqtune --help", "aqcheck --ranks 2:3",
        "aqsim barrier --ranks 8", "aqsim --help", "aqinfo", "aqinfo --errors"}) {
    for (const char* const where : {" > /dev/full", " >&-"}) {
      AqrunJob job(shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/" + std::string(command) + where));
      EXPECT_EQ(job.status(), 1) << command << where << ": " << job.err();
      EXPECT_THAT(job.err(), HasSubstr("standard output: ")) << command << where;
    }
  }
}

// A measurement without a launcher is one of aqrun, which passes on what its ranks print.
TEST(Tools, FailIfTheOutputOfTheirRanksIsNotTaken) {
  const std::string alone = "exec env -i PATH=\"$PATH\" " AQUEDUCT_BIN_DIR "/";
  for (const char* const where : {" > /dev/full", " >&-"}) {
    AqrunJob job(shell({"-n", "1"}, alone + "aqperf put-latency --bytes 8:8 --seconds 0.05" + where));
    EXPECT_EQ(job.status(), 1) << where << ": " << job.err();
    EXPECT_THAT(job.err(), HasSubstr("aqrun: standard output: ")) << where;
    AqrunJob silent(shell({"-n", "1"}, alone + "aqrun -n 2 true" + where));
    EXPECT_EQ(silent.status(), 0) << where << ": nothing is lost; " << silent.err();
  }
}

}  // namespace
}  // namespace aqueduct::integration
