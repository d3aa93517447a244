#include "tools/aqinfo/collectives.hpp"
#include "tools/aqinfo/show.hpp"
#include "tools/aqinfo/topology.hpp"
#include "tools/given_value.hpp"
#include "tools/standard_output.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>
#include <string>

namespace {

// Scripts depend on these exit statuses.
constexpr int kWell = 0;
constexpr int kProblems = 1;
constexpr int kWrongUsage = 2;
constexpr int kNoJob = 3;
/// More members than any job has.
constexpr int kMostMembers = 1 << 20;

}  // namespace

static int run_tool(int argc, char** argv) {
  CLI::App app("Shows what Aqueduct finds on this host: conduits, limits, settings, and the reasons.",
               "aqinfo");
  app.footer(
      "Exit status: 0; 1 when a setting has a problem; 2 for wrong usage; 3 when no job starts "
      "(--topology).");
  bool json = false;
  bool errors = false;
  app.add_flag("--json", json, "One JSON object instead of text");
  CLI::Option* const asks_errors = app.add_flag("--errors", errors, "The registry of error codes instead");
  bool collectives = false;
  aqueduct::aqinfo::CollectivesQuestion question;
  std::string sizes;
  CLI::Option* const asks = app.add_flag("--collectives", collectives,
                                         "Which algorithm each collective operation would use instead")
                                ->excludes(asks_errors);
  app.add_option("--ranks", question.ranks, "With --collectives: members of the team")
      ->check(aqueduct::tools::decimal())
      ->check(CLI::Range(1, kMostMembers))
      ->needs(asks);
  app.add_option("--cores", question.processors,
                 "With --collectives: processors of a host, if not this one's")
      ->check(aqueduct::tools::decimal())
      ->check(CLI::Range(1, kMostMembers))
      ->needs(asks);
  app.add_option("--bytes", sizes, "With --collectives: sizes of a block, as 8,1K,64M")
      ->check(aqueduct::tools::given_value())
      ->needs(asks);
  bool topology = false;
  app.add_flag("--topology", topology,
               "Levels of memory of this host, and where ranks are, instead; under aqrun: those of its job")
      ->excludes(asks)
      ->excludes(asks_errors);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kWell : kWrongUsage;  // --help arrives here too
  }

  using namespace aqueduct;
  if (const std::string problem = aqinfo::read_byte_list(sizes, question.bytes); !problem.empty()) {
    std::fputs((problem + "\n").c_str(), stderr);
    return kWrongUsage;
  }
  if (errors) {
    std::fputs((json ? aqinfo::errors_as_json() : aqinfo::errors_as_text()).c_str(), stdout);
    return kWell;
  }
  const Config config = Config::from_environment();
  if (collectives) {
    const auto choices = aqinfo::gather_collectives(config, question);
    std::fputs((json ? aqinfo::collectives_as_json(choices, question, config)
                     : aqinfo::collectives_as_text(choices, question, config))
                   .c_str(),
               stdout);
    return config.problems().empty() ? kWell : kProblems;
  }
  if (topology) {
    const auto found = aqinfo::look_at_topology(config);
    if (!found) {
      std::fprintf(stderr, "%s\n", found.status().text().c_str());
      return config.problems().empty() ? kNoJob : kProblems;
    }
    for (const aqinfo::TopologyFacts& facts : *found)
      std::fputs((json ? aqinfo::topology_as_json(facts) : aqinfo::topology_as_text(facts)).c_str(), stdout);
    return kWell;
  }
  const aqinfo::Facts facts = aqinfo::gather(config);
  std::fputs((json ? aqinfo::as_json(facts) : aqinfo::as_text(facts)).c_str(), stdout);
  return config.problems().empty() ? kWell : kProblems;
}

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  int status = kProblems;
  try {
    status = run_tool(argc, argv);
  } catch (const std::bad_alloc&) {
    status = aqueduct::tools::after_no_memory("aqinfo", kProblems);
  }
  return aqueduct::tools::after_output("aqinfo", status);
}
