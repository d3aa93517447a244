#include <aqueduct/aqueduct.hpp>

#include "core/network_profile.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/aqperf/calibrate/calibration.hpp"
#include "tools/aqperf/calibrate/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

namespace aqueduct::perf {
namespace {

using testing::HasSubstr;

TEST(CalibrationFit, TakesGapsOfLargerSizesWhereTheProcessorIsTheLimit) {
  // o 200, L 1000, g 50, G 0.1
  const auto size = [](std::uint64_t bytes) {
    const double flight = 0.1 * static_cast<double>(bytes);
    return MeasuredSize{bytes, 200, 200, 1200 + flight, 1200 + flight, std::max(200.0, 50 + flight)};
  };
  const auto costs = fit_costs({size(8), size(1024), size(8192), size(65536)});
  ASSERT_EQ(costs.size(), 3u);
  for (const NetworkCost& cost : costs) {
    EXPECT_NEAR(static_cast<double>(cost.gap.count()), 50'000, 1);
    EXPECT_NEAR(static_cast<double>(cost.latency.count()), 1'000'000, 1);
    EXPECT_EQ(cost.overhead.count(), 200'000);
    EXPECT_EQ(cost.femtoseconds_per_byte, 100'000u);
  }
  EXPECT_EQ(costs[0].bytes, 0u);
  EXPECT_EQ(costs[1].bytes, 1024u);
  EXPECT_EQ(costs[2].bytes, 8192u);
}

double nanoseconds(const NetworkCost& cost, std::uint64_t bytes, bool way) {
  const auto fixed = way ? cost.overhead + cost.latency : cost.gap;
  return static_cast<double>(fixed.count()) / 1e3 +
         static_cast<double>(bytes * cost.femtoseconds_per_byte) / 1e6;
}

TEST(CalibrationFit, GivesTheWayAndTheIntervalThatWereMeasuredAtEachSize) {
  // Of a socket: a lone message takes longer for each byte than a stream, and from 16 KiB on packets are longer.
  const std::vector<MeasuredSize> socket{
      {8, 400, 1900, 5600, 7000, 500},           {1024, 600, 2000, 6000, 7500, 900},
      {4096, 1900, 2100, 7200, 9000, 2500},      {16384, 3000, 3000, 12800, 16000, 5200},
      {32768, 4000, 4000, 15200, 19000, 8100},   {131072, 9000, 9000, 48000, 60000, 33000},
      {262144, 9000, 9000, 88000, 110000, 66000}};
  // Of mapped memory: the processor of the initiator copies, and nothing else takes time.
  const std::vector<MeasuredSize> memory{{8, 20, 60, 72, 90, 20},
                                         {1024, 40, 80, 104, 130, 40},
                                         {4096, 110, 150, 160, 200, 110},
                                         {16384, 500, 540, 480, 600, 500},
                                         {65536, 2300, 2340, 1920, 2400, 2300}};
  for (const std::vector<MeasuredSize>& sizes : {socket, memory}) {
    const auto costs = fit_costs(sizes);
    ASSERT_EQ(costs.size(), sizes.size() - 1);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      SCOPED_TRACE(sizes[i].bytes);
      EXPECT_NEAR(nanoseconds(costs[i], sizes[i].bytes, true), sizes[i].crossing, 1);
      EXPECT_LE(nanoseconds(costs[i], sizes[i].bytes, false), sizes[i].interval + 1);
      if (sizes[i].interval > 1.2 * sizes[i].overhead) {
        EXPECT_NEAR(nanoseconds(costs[i], sizes[i].bytes, false), sizes[i].interval, 1);
      }
      EXPECT_LE(static_cast<double>(costs[i].overhead.count()), sizes[i].alone * 1e3 + 1);
      // Puts of a stream may share system calls, so the overhead of a lone one is not the least interval.
      NetworkModel model;
      model.by_size[0] = costs[i];
      EXPECT_NEAR(static_cast<double>(model.put_interval(sizes[i].bytes).count()), sizes[i].interval * 1e3,
                  1000);
      EXPECT_GE(costs[i].gap.count(), 0);
      EXPECT_GE(costs[i].latency.count(), 0);
      // Up to the next size the way is no shorter than at this one, and no longer than there.
      EXPECT_LE(nanoseconds(costs[i], sizes[i + 1].bytes, true), sizes[i + 1].crossing + 1);
    }
  }
}

TEST(CalibrationFit, TakesNothingAsLongerThanWhatMoreBytesTook) {
  std::vector<MeasuredSize> sizes{
      {8, 20, 60, 72, 90, 20}, {1024, 40, 80, 5000, 7000, 900}, {4096, 110, 150, 160, 200, 110}};
  undisturb(sizes);
  EXPECT_EQ(sizes[1].one_way, 160);
  EXPECT_EQ(sizes[1].crossing, 200);
  EXPECT_EQ(sizes[1].interval, 110);
  EXPECT_EQ(sizes[0].one_way, 72);
  EXPECT_EQ(sizes[0].crossing, 90);
  EXPECT_EQ(sizes[2].crossing, 200);
}

TEST(CalibrationFit, TakesALongerMessageForNoLessWork) {
  // The call with 1024 bytes returns before it has sent.
  std::vector<MeasuredSize> sizes{
      {8, 20, 60, 72, 90, 20}, {1024, 25, 30, 80, 95, 25}, {4096, 30, 90, 160, 200, 30}};
  undisturb(sizes);
  EXPECT_EQ(sizes[1].alone, 60);
  EXPECT_EQ(sizes[2].alone, 90);
}

TEST(CalibrationFit, SettlesOnceTheShortestTrialsAgree) {
  EXPECT_FALSE(have_settled({100, 101}));
  EXPECT_TRUE(have_settled({900, 101, 100, 5000, 102}));
  EXPECT_FALSE(have_settled({900, 101, 100, 5000, 103}));
  EXPECT_TRUE(have_settled({0, 0, 7, 0}));
  EXPECT_EQ(usual_of({900, 101, 100, 5000, 102}), 101);
  // The shortest ones do not agree, so none of them is trusted.
  EXPECT_EQ(usual_of({80, 101, 90, 120, 140, 150, 160, 170}), 101);
  EXPECT_EQ(usual_of({7}), 7);
}

TEST(CalibrationFit, FindsPeakAndRendezvous) {
  std::vector<MeasuredSize> sizes;
  for (std::uint64_t bytes = 1024; bytes <= 262144; bytes *= 2) {
    const double way = 1000 + 0.1 * static_cast<double>(bytes) + (bytes >= 32768 ? 20'000 : 0);
    sizes.push_back({bytes, 10, 10, way, way, 100 + 0.1 * static_cast<double>(bytes)});
  }
  EXPECT_EQ(rendezvous_limit(sizes), 32768u);
  EXPECT_EQ(peak_bytes(sizes), 16384u);
  for (MeasuredSize& one : sizes) one.one_way = 1000 + 0.1 * static_cast<double>(one.bytes);
  EXPECT_EQ(rendezvous_limit(sizes), 0u);
}

/// Binds the calling thread to the first processor that it may use, for as long as the object exists.
class OnTheFirstProcessor {
 public:
  OnTheFirstProcessor() {
    CPU_ZERO(&before_);
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    int first = 0;
    while (first < CPU_SETSIZE && !CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnTheFirstProcessor() { static_cast<void>(::sched_setaffinity(0, sizeof before_, &before_)); }
  OnTheFirstProcessor(const OnTheFirstProcessor&) = delete;
  OnTheFirstProcessor& operator=(const OnTheFirstProcessor&) = delete;

 private:
  cpu_set_t before_;
};

Calibration calibrate_sim(const std::vector<std::pair<const char*, const char*>>& settings,
                          bool on_one_processor = false) {
  Config config;
  EXPECT_TRUE(config.set("conduit", "sim"));
  for (const auto& [name, value] : settings) EXPECT_TRUE(config.set(name, value)) << name;
  std::vector<std::unique_ptr<Session>> sessions(2);
  Options options;
  options.bench = "calibrate";
  options.threads = 2;
  auto job = Job::in_process(2, config);
  EXPECT_TRUE(job) << job.status().text();
  std::vector<Calibration> found(2);
  job->run_each([&](Endpoint& ep) {
    std::optional<OnTheFirstProcessor> bound;
    if (on_one_processor) bound.emplace();
    sessions[ep.rank()] = std::make_unique<Session>(ep, options);
    found[ep.rank()] = calibrate(*sessions[ep.rank()]);
  });
  EXPECT_TRUE(job->finish());
  EXPECT_EQ(found[0].model.by_size, found[1].model.by_size);
  return found[0];
}

void expect_near(double measured, double injected, const char* what) {
  EXPECT_NEAR(measured, injected, 0.03 * injected) << what;
}

TEST(CalibrationOfSim, RecoversWhatWasInjected) {
  struct Injected {
    const char *latency, *overhead, *gap, *per_byte;
    double l, o, g, fs;
  };
  for (const Injected& one : {Injected{"3us", "250ns", "90ns", "100000", 3e6, 250e3, 90e3, 1e5},
                              Injected{"800ns", "1500ns", "400ns", "640000", 8e5, 1500e3, 400e3, 6.4e5},
                              Injected{"20us", "40ns", "2us", "33000", 2e7, 40e3, 2e6, 3.3e4}}) {
    const Calibration found = calibrate_sim({{"sim_latency", one.latency},
                                             {"sim_overhead", one.overhead},
                                             {"sim_gap", one.gap},
                                             {"sim_gap_per_byte", one.per_byte}});
    EXPECT_EQ(found.conduit, "sim");
    EXPECT_EQ(found.model.sizes, 7u);
    for (const NetworkCost& cost : found.model.costs()) {
      SCOPED_TRACE(std::string(one.latency) + " from " + std::to_string(cost.bytes));
      expect_near(static_cast<double>(cost.latency.count()), one.l, "L");
      expect_near(static_cast<double>(cost.overhead.count()), one.o, "o");
      expect_near(static_cast<double>(cost.gap.count()), one.g, "g");
      expect_near(static_cast<double>(cost.femtoseconds_per_byte), one.fs, "G");
      const double bytes = std::max(8.0, static_cast<double>(cost.bytes));
      expect_near(static_cast<double>(found.model.put_interval(static_cast<std::uint64_t>(bytes)).count()),
                  std::max(one.o, one.g + bytes * one.fs / 1000), "interval");
    }
    EXPECT_EQ(found.model.inline_limit, 64u);
    EXPECT_EQ(found.model.rendezvous_limit, 0u);
    EXPECT_GT(found.model.copy_femtoseconds_per_byte, 0u);
  }
}

TEST(CalibrationOfSim, RecoversTheLatencyOfRanksOnOneProcessorFromRoundTrips) {
  const Calibration found = calibrate_sim({{"sim_latency", "3us"}, {"sim_overhead", "250ns"}}, true);
  EXPECT_EQ(found.level, "core");
  for (const NetworkCost& cost : found.model.costs())
    expect_near(static_cast<double>(cost.latency.count()), 3e6, "L");
}

TEST(CalibrationProfile, IsMergedAndNotOverwrittenIfForeign) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "profile.json").string();
  Calibration calibration;
  calibration.conduit = "udp";
  calibration.level = "host";
  calibration.model.by_size[0].latency = Picoseconds(5000);
  write_profile(file, calibration);
  calibration.level = "network";
  calibration.model.by_size[0].latency = Picoseconds(7000);
  write_profile(file, calibration);
  calibration.model.by_size[0].latency = Picoseconds(8000);
  calibration.model.by_size[0].overhead = Picoseconds(2'700'000);
  calibration.model.by_size[0].interval = Picoseconds(150'000);
  write_profile(file, calibration);
  const auto text = [&] {
    std::ifstream in(file);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const core::ProfileRead read = core::read_profile(text(), core::machine_name(), "udp");
  ASSERT_EQ(read.problem, "");
  ASSERT_EQ(read.profile.levels.size(), 2u);
  EXPECT_EQ(read.profile.between(true)->at(0).latency.count(), 5000);
  EXPECT_EQ(read.profile.between(false)->at(0).latency.count(), 8000);
  EXPECT_EQ(read.profile.between(false)->put_interval(8).count(), 150'000);

  calibration.network = "loopback";
  write_profile(file, calibration);
  EXPECT_NE(core::read_profile(text(), core::machine_name(), "udp", "loopback").profile.between(false),
            nullptr);
  EXPECT_TRUE(
      core::read_profile(text(), core::machine_name(), "udp", "MTU 1500").profile.is_of_another(false));

  calibration.conduit = "smp";
  const std::string before = text();
  try {
    write_profile(file, calibration);
    FAIL() << "it was written";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("of conduit udp"));
  }
  EXPECT_EQ(text(), before);
  // A look before minutes of measuring finds the same, and changes nothing.
  EXPECT_THROW(check_profile(file, calibration), Failure);
  EXPECT_THROW(check_profile((folder / "no" / "such.json").string(), calibration), Failure);
  const std::string inside = (folder / "inside").string();
  std::filesystem::create_directory(inside);
  EXPECT_THROW(check_profile(inside, calibration), Failure);
  const std::string other = (folder / "passwd").string();
  std::ofstream(other) << "root:x:0:0\n";
  EXPECT_THROW(check_profile(other, calibration), Failure);
  for (const std::string& refused : {inside, other}) EXPECT_FALSE(std::filesystem::exists(refused + ".lock"));
  calibration.conduit = "udp";
  check_profile(file, calibration);
  EXPECT_EQ(text(), before);
  const std::string fresh = (folder / "fresh.json").string();
  check_profile(fresh, calibration);
  EXPECT_FALSE(std::filesystem::exists(fresh));
  EXPECT_FALSE(std::filesystem::exists(fresh + ".new"));
  calibration.conduit = "smp";
  EXPECT_THROW(write_profile((folder / "no" / "such.json").string(), calibration), Failure);
}

/// Makes a profile one of another machine of this kind.
void change_host(const std::string& file) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  in.close();
  const std::string host = core::machine_name().substr(0, core::machine_name().find(", "));
  const std::size_t at = text.find("\"" + host + ", ");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at + 1, host.size(), "another_host");
  std::ofstream(file) << text;
}

TEST(CalibrationProfile, OfAnotherHostOfTheKindIsGoneOnWithBetweenHosts) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "profile.json").string();
  Calibration calibration;
  calibration.conduit = "udp";
  const auto write = [&](const char* level, std::int64_t latency) {
    calibration.level = level;
    calibration.model.by_size[0].latency = Picoseconds(latency);
    write_profile(file, calibration);
  };
  const auto read = [&] {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return core::read_profile(text, core::machine_name(), "udp");
  };
  write("network", 7000);
  change_host(file);
  EXPECT_EQ(read().profile.between(false)->at(0).latency.count(), 7000);
  write("network", 8000);
  EXPECT_EQ(read().profile.between(false)->at(0).latency.count(), 8000);
  write("host", 5000);
  EXPECT_EQ(read().profile.between(true)->at(0).latency.count(), 5000);
  change_host(file);
  write("network", 9000);
  EXPECT_EQ(read().profile.between(false)->at(0).latency.count(), 9000);
  EXPECT_EQ(read().profile.between(true), nullptr) << "those of the other host";
  EXPECT_THROW(write("host", 6000), Failure);
}

}  // namespace
}  // namespace aqueduct::perf
