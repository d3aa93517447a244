// The page of aqtune as a browser shows it.

#include "tests/integration/aqrun_job.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <unistd.h>

namespace aqueduct::integration {
namespace {

using ::testing::HasSubstr;

/// A browser that can print the page that it shows; empty: none is installed.
std::string browser_here() {
  const char* const path = std::getenv("PATH");
  for (const char* const name :
       {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string file = fmt::format("{}/{}", folder, name);
      if (::access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return {};
}

std::string decision_in_file(const std::string& operation, int ranks, int bytes, int element,
                             const std::string& algorithm) {
  return fmt::format(
      R"({{"operation": "{}", "team": "network", "ranks": {}, "bytes": {}, "element": {}, "in": "all", "out": "all",)"
      R"( "addresses": "local", "order": "any", "commutative": true, "algorithm": "{}", "median_ps": {}, "samples": 5}})",
      operation, ranks, bytes, element, algorithm, 1'000'000 + 100 * bytes);
}

/// Says in the page's title what is visible.
constexpr const char* kCount = R"(<script>
const shown = (what) => [...document.querySelectorAll(what)].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 5 && box.height > 5;
});
const coloured = shown('td').filter((cell) => getComputedStyle(cell).backgroundColor !== 'rgba(0, 0, 0, 0)');
const wide = shown('svg').filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth);
document.title = `cells ${coloured.length}, maps ${shown('table.map').length}, titles ` +
    `${new Set(shown('h2').map((one) => one.textContent)).size}, curves ${shown('svg path, svg polyline').length > 0}, ` +
    `cut off ${wide.length}, points at ${coloured[0].title}`;
</script></body></html>
)";

TEST(AqtunePage, ShowsItselfInABrowser) {
  const std::string browser = browser_here();
  // No package of the project brings one, and it is large: CI has none, so tests/allowed-skips.txt names this test.
  if (browser.empty()) GTEST_SKIP() << "no browser";
  const support::ScratchFolder folder;
  const std::string decisions = (folder / "tuning.json").string();
  const std::string page = (folder / "tuning.html").string();
  std::ofstream(decisions)
      << R"({"format": "aqueduct-tuning", "version": 1, "machine": "A <fast> one", "conduit": "udp", "decisions": [)"
      << decision_in_file("broadcast", 4, 1024, 1, "chain") << ",\n"
      << decision_in_file("broadcast", 4, 4096, 1, "circulant") << ",\n"
      << decision_in_file("all_reduce", 8, 1024, 8, "ring") << ",\n"
      << decision_in_file("all_reduce", 8, 1024, 4, "ring") << "]}\n";
  AqrunJob made(
      shell({"-n", "1"}, "exec " AQUEDUCT_BIN_DIR "/aqtune --from " + decisions + " --report " + page));
  ASSERT_EQ(made.status(), 0) << made.err();
  std::string text;
  {
    std::ifstream in(page, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::size_t end = text.find("</body>");
  ASSERT_NE(end, std::string::npos);
  const std::string counted = (folder / "counted.html").string();
  std::ofstream(counted) << text.substr(0, end) << kCount;
  AqrunJob shown(
      shell({"-n", "1"},
            "exec timeout 100 " + browser +
                " --headless --no-sandbox --disable-gpu --disable-background-networking --user-data-dir=" +
                folder.path() + "/profile --dump-dom file://" + counted + " 2>&1"));
  EXPECT_EQ(shown.status(), 0) << shown.out();
  EXPECT_THAT(shown.out(),
              HasSubstr("<title>cells 4, maps 3, titles 3, curves true, cut off 0, points at chain: "));
}

}  // namespace
}  // namespace aqueduct::integration
