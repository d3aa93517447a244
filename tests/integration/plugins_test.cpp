// Plug-ins in folders: good ones are conduits like any other, bad ones are skipped with a reason.

#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>

namespace aqueduct {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Plugins : public testing::Test {
 protected:
  struct Answer {
    int status = -1;
    std::string text;  // standard output and standard error
  };

  Plugins() : folder_("/tmp") {
    // Copied, so that the loader does not find orphan's library beside the place where it was built.
    for (const char* name : {"old", "bare", "orphan", "card"}) {
      std::filesystem::copy(std::string(AQUEDUCT_TEST_PLUGINS "/") + name + ".so",
                            folder_ / (name + std::string(".so")));
    }
    std::ofstream(folder_ / "garbage.so") << "not a shared object";
    std::ofstream(folder_ / "readme.txt") << "of no interest";
  }
  Answer run(const std::string& command, const std::string& variables = "") const {
    const std::string whole = "env -i PATH=\"$PATH\" AQUEDUCT_PLUGIN_PATH=/nowhere::" + folder_.path() + " " +
                              variables + " timeout 30 " AQUEDUCT_BIN_DIR "/" + command + " 2>&1";
    Answer answer;
    FILE* const pipe = ::popen(whole.c_str(), "r");
    if (pipe == nullptr) return answer;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) answer.text.push_back(static_cast<char>(c));
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
    return answer;
  }
  nlohmann::json info(const std::string& variables = "") const {
    const Answer answer = run("aqinfo --json", variables);
    EXPECT_EQ(answer.status, 0) << answer.text;
    auto json = nlohmann::json::parse(answer.text, nullptr, false);
    EXPECT_TRUE(json.is_object()) << answer.text;
    return json;
  }
  static std::string why_not(const nlohmann::json& info, const std::string& name) {
    for (const auto& one : info.at("choice").at("far").at("passed_over")) {
      if (one.at("conduit") == name) return one.at("why");
    }
    return "(not passed over)";
  }

  const support::ScratchFolder folder_;
};

TEST_F(Plugins, ThatCannotBeUsedArePassedOverWithTheReason) {
  const auto found = info();
  EXPECT_EQ(found.at("choice").at("far").at("conduit"), "udp");
  EXPECT_THAT(why_not(found, "old"), HasSubstr("was built for conduit interface"));
  EXPECT_THAT(why_not(found, "bare"), HasSubstr("it exports no aqueduct_conduit()"));
  EXPECT_THAT(why_not(found, "orphan"), HasSubstr("libaqueduct_test_absent.so"));
  EXPECT_THAT(why_not(found, "garbage"), HasSubstr("cannot be loaded"));
  EXPECT_EQ(why_not(found, "card"), "no card with a port that is up");
  EXPECT_EQ(found.at("plugin_folders").at(0), "/nowhere");
}

TEST_F(Plugins, DoNotHinderAJobThatDoesNotNeedThem) {
  const Answer hello = run("aqrun -n 2 " AQUEDUCT_BIN_DIR "/hello", "AQUEDUCT_NEAR=off");
  EXPECT_EQ(hello.status, 0) << hello.text;
}

TEST_F(Plugins, ThatAreAskedForByNameAndCannotBeLoadedAreAnError) {
  const Answer old = run("hello", "AQUEDUCT_CONDUIT=old");
  EXPECT_EQ(old.status, 23) << old.text;  // version_mismatch
  EXPECT_THAT(old.text, AllOf(HasSubstr("AQUEDUCT_CONDUIT=old"), HasSubstr("build it against this version")));
  const Answer orphan = run("hello", "AQUEDUCT_CONDUIT=orphan");
  EXPECT_EQ(orphan.status, 22) << orphan.text;
  EXPECT_THAT(orphan.text, HasSubstr("libaqueduct_test_absent.so"));
  const Answer card = run("hello", "AQUEDUCT_CONDUIT=card");
  EXPECT_EQ(card.status, 25) << card.text;
  EXPECT_THAT(card.text, HasSubstr("no card with a port that is up"));
  const Answer none = run("hello", "AQUEDUCT_CONDUIT=crad");
  EXPECT_EQ(none.status, 22) << none.text;
  EXPECT_THAT(none.text, HasSubstr("did you mean card?"));
}

TEST_F(Plugins, HaveSettingsLikeAnyOtherConduit) {
  const auto found = info("AQUEDUCT_CARD_PORTS=2");
  EXPECT_EQ(found.at("choice").at("far").at("conduit"), "card");
  EXPECT_THAT(found.at("choice").at("far").at("why"), HasSubstr("a network card"));
  EXPECT_THAT(why_not(found, "udp"), HasSubstr("card is preferred"));
  const Answer many = run("hello", "AQUEDUCT_CARD_PORTS=9");
  EXPECT_EQ(many.status, 22) << many.text;
  EXPECT_THAT(many.text, HasSubstr("AQUEDUCT_CARD_PORTS=9"));
  const Answer misspelt = run("hello", "AQUEDUCT_CARD_PRTS=1");
  EXPECT_THAT(misspelt.text, HasSubstr("did you mean AQUEDUCT_CARD_PORTS?"));
}

TEST_F(Plugins, NamedByTheirPathHaveTheirSettingsToo) {
  const std::string path = (folder_ / "card.so").string();
  for (const char* order : {"AQUEDUCT_CARD_PORTS=1 AQUEDUCT_CONDUIT=", "AQUEDUCT_CONDUIT="}) {
    const bool has_port = std::string_view(order).starts_with("AQUEDUCT_CARD");
    const Answer answer = run("hello", "AQUEDUCT_PLUGIN_PATH= " + std::string(order) + path);
    EXPECT_THAT(answer.text,
                HasSubstr(has_port ? "the card is a pretence" : "no card with a port that is up"));
    EXPECT_EQ(answer.status, has_port ? 26 : 25) << answer.text;
  }
}

// aqcheck follows the bytes of a program's own algorithms too.
TEST_F(Plugins, OfAlgorithmsAreChecked) {
  const std::string of = "aqcheck --ranks 2:5 --plugin " AQUEDUCT_TEST_PLUGINS "/algorithms.so";
  const Answer good = run(of + " --algorithm greedy-tree");
  EXPECT_EQ(good.status, 0) << good.text;
  EXPECT_THAT(good.text, AllOf(HasSubstr("broadcast greedy-tree"), HasSubstr("right")));
  const Answer both = run(of);
  EXPECT_EQ(both.status, 1) << both.text;
  EXPECT_THAT(both.text,
              AllOf(HasSubstr("broadcast hasty"), HasSubstr("WRONG"), HasSubstr("counterexample: ")));
  const Answer in_c = run("aqcheck --ranks 2:4 --plugin " AQUEDUCT_TEST_PLUGINS "/c_algorithms.so");
  EXPECT_EQ(in_c.status, 0) << in_c.text;
  EXPECT_THAT(in_c.text, AllOf(HasSubstr("broadcast backwards"), HasSubstr("all_reduce all-inputs")));
  const Answer none = run("aqcheck --plugin " + (folder_ / "bare.so").string());
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.text,
              HasSubstr("has no function `extern \"C\" void aqueduct_algorithms(aqueduct::Config&)`"));
  const Answer garbage = run("aqcheck --plugin " + (folder_ / "garbage.so").string());
  EXPECT_EQ(garbage.status, 2);
  EXPECT_THAT(garbage.text, HasSubstr("cannot be loaded"));
}

}  // namespace
}  // namespace aqueduct
