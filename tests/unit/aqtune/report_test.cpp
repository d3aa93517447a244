// The page of aqtune.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqtune/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace aqueduct::aqtune {
namespace {

using testing::HasSubstr;
using testing::Not;

coll::Decision decision_for_page(const coll::Algorithm& algorithm, Rank ranks, std::uint64_t bytes) {
  coll::Decision one;
  one.key.operation = algorithm.operation;
  one.key.ranks = ranks;
  one.key.size = coll::size_class(bytes);
  one.best = {&algorithm, {}, 1'500'000};
  one.samples = 40;
  return one;
}

/// What is open at the end of the page, or was closed without being open; empty: all is well.
std::string unbalanced(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag that does not end";
    if (page[at + 1] == '!' || page[end - 1] == '/') continue;
    const bool closes = page[at + 1] == '/';
    const std::size_t first = at + (closes ? 2 : 1);
    const std::string name = page.substr(first, page.find_first_of(" >", first) - first);
    if (name == "meta" || name == "br") continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + ">";
}

TEST(TuningReport, HasMapsOfItsOwnForEachNetwork) {
  const coll::DecisionsByNetwork all{{"tcp on <eth0>", {decision_for_page(coll::kBroadcastChain, 4, 1024)}},
                                     {"verbs", {decision_for_page(coll::kBroadcastCirculant, 4, 1024)}}};
  const std::string page = report_page_by_network({"a processor", "ofi"}, all);
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, HasSubstr("<h2>broadcast over a network (tcp on &lt;eth0&gt;)</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>broadcast over a network (verbs)</h2>"));
  EXPECT_THAT(page, HasSubstr("chain"));
  EXPECT_THAT(page, HasSubstr("circulant"));
  EXPECT_THAT(page, HasSubstr("2 decisions"));
}

TEST(TuningReport, ShowsEachDecisionInItsMap) {
  std::vector all{decision_for_page(coll::kBroadcastKNomial, 4, 1024),
                  decision_for_page(coll::kBroadcastChain, 16, 1 << 20),
                  decision_for_page(coll::kAllReduceRing, 16, 1 << 20)};
  all[0].best.wanted = {8, 0, 0};
  all[1].runner_up = {&coll::kBroadcastCirculant, {}, 2'000'000'000};
  all[2].key.kind = coll::TeamKind::mapped;
  const std::string page = report_page({"A <fast> \"processor\"", "udp"}, all);
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, HasSubstr("<h2>broadcast over a network</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>all_reduce in mapped memory</h2>"));
  EXPECT_THAT(page, HasSubstr("k-nomial:radix=8<br><small>1.50 µs</small>"));
  EXPECT_THAT(page, HasSubstr("runner-up circulant: 2.00 ms"));
  EXPECT_THAT(page, HasSubstr("<th>1 KiB</th><th>1 MiB</th>"));
  EXPECT_THAT(page, HasSubstr("<tr><th>16</th><td></td><td style"));
  EXPECT_THAT(page, HasSubstr("A &lt;fast&gt; &quot;processor&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("<fast>")));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

std::size_t count_in(const std::string& page, const std::string& wanted) {
  std::size_t count = 0;
  for (std::size_t at = page.find(wanted); at != std::string::npos; at = page.find(wanted, at + 1)) ++count;
  return count;
}

// Maps of two types had the same title, and decisions of other operators took each other's cells.
TEST(TuningReport, HasACellForEachDecisionAndATitleForEachMap) {
  std::vector<coll::Decision> all;
  const coll::Decision usual = decision_for_page(coll::kAllReduceRing, 16, 1 << 20);
  const auto add = [&](const auto& change) {
    all.push_back(usual);
    change(all.back().key);
  };
  add([](coll::TuningKey&) {});
  add([](coll::TuningKey& key) { key.element = 4; });
  add([](coll::TuningKey& key) { key.element = 8; });
  add([](coll::TuningKey& key) { key.addresses = coll::Addresses::single; });
  add([](coll::TuningKey& key) { key.commutative = false; });
  add([](coll::TuningKey& key) { key.order = coll::Order::exact; });
  add([](coll::TuningKey& key) { key.order = coll::Order::same_everywhere; });
  add([](coll::TuningKey& key) { key.in = coll::Sync::none; });
  add([](coll::TuningKey& key) { key.out = coll::Sync::mine; });
  add([](coll::TuningKey& key) { key.kind = coll::TeamKind::host; });
  add([](coll::TuningKey& key) { key.operation = coll::Operation::reduce; });
  add([](coll::TuningKey& key) { key.crowded = coll::Crowding::yes; });
  add([](coll::TuningKey& key) { key.crowded = coll::Crowding::unknown; });
  const std::size_t maps = all.size();
  add([](coll::TuningKey& key) { key.ranks = 8; });
  add([](coll::TuningKey& key) { key.hosts = 4; });
  add([](coll::TuningKey& key) { key.size = coll::size_class(8); });
  const std::string page = report_page({"here", "udp"}, all);
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_EQ(count_in(page, "<td style="), all.size());
  std::set<std::string> titles;
  for (std::size_t at = page.find("<h2>"); at != std::string::npos; at = page.find("<h2>", at + 1))
    titles.insert(page.substr(at, page.find("</h2>", at) - at));
  EXPECT_EQ(titles.size(), maps);
  EXPECT_EQ(count_in(page, "<h2>"), maps);
  EXPECT_THAT(page, HasSubstr("<h2>all_reduce over a network, elements of 4 bytes</h2>"));
}

TEST(TuningReport, NamesNoModesAndNoSizesOfBarriers) {
  coll::Decision one = decision_for_page(coll::kAllReduceTree, 4, 0);
  one.key.operation = coll::Operation::barrier;
  one.key.in = one.key.out = coll::Sync::mine;
  one.key.kind = coll::TeamKind::host;
  coll::Decision other = decision_for_page(coll::kBroadcastChain, 4, 1024);
  other.key.in = other.key.out = coll::Sync::mine;
  const std::string page = report_page({"here", "udp"}, std::vector{one, other});
  EXPECT_THAT(page, HasSubstr("<h2>barrier on one host</h2>"));
  EXPECT_THAT(page, HasSubstr("<th>1 KiB</th>"));
  EXPECT_THAT(page, Not(HasSubstr("0 B")));
  EXPECT_THAT(page, HasSubstr("<h2>broadcast over a network, sync mine to mine</h2>"));
}

TEST(TuningReport, OfNothingIsAPageToo) {
  const std::string page = report_page({"here", "udp"}, {});
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, HasSubstr("Nothing was decided"));
}

}  // namespace
}  // namespace aqueduct::aqtune
