#include "tools/aqinfo/show.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

// Scripts depend on these exit statuses.
constexpr int kWell = 0;
constexpr int kProblems = 1;
constexpr int kWrongUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows what Aqueduct finds on this host: conduits, limits, settings, and the reasons.",
               "aqinfo");
  app.footer("Exit status: 0; 1 when a setting has a problem; 2 for wrong usage.");
  bool json = false;
  bool errors = false;
  app.add_flag("--json", json, "One JSON object instead of text");
  app.add_flag("--errors", errors, "The registry of error codes instead");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kWell : kWrongUsage;  // --help arrives here too
  }

  using namespace aqueduct;
  if (errors) {
    std::fputs((json ? aqinfo::errors_as_json() : aqinfo::errors_as_text()).c_str(), stdout);
    return kWell;
  }
  const Config config = Config::from_environment();
  const aqinfo::Facts facts = aqinfo::gather(config);
  std::fputs((json ? aqinfo::as_json(facts) : aqinfo::as_text(facts)).c_str(), stdout);
  return config.problems().empty() ? kWell : kProblems;
}
