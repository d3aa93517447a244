// Tens of millions of messages over networks that lose packets, and ten minutes of changing faults.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include <sys/wait.h>

namespace {

using Clock = std::chrono::steady_clock;

/// Runs stress_exchange over udp only, with these faults, and shows its output.
void exchange(int ranks, long messages, long seconds, const std::string& faults,
              const std::string& more = "") {
  const std::string command =
      "AQUEDUCT_NEAR=off AQUEDUCT_CONDUIT=udp AQUEDUCT_UDP_FAULTS='" + faults + "' " + more + " timeout " +
      std::to_string(seconds + 240) + " " AQUEDUCT_BIN_DIR "/aqrun -n " + std::to_string(ranks) +
      " " AQUEDUCT_BIN_DIR "/stress_exchange " + std::to_string(messages) + " " + std::to_string(seconds);
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "again with: " << command;
}

TEST(UdpStress, TenMillionMessagesOfWhichOneInAHundredIsLost) { exchange(2, 5'000'000, 600, "loss=1%"); }

TEST(UdpStress, ThirtyTwoRanksOnTwoCoresAllToAll) { exchange(32, 2'000, 300, ""); }

TEST(UdpStress, TenMinutesOfChangingFaults) {
  std::random_device chance;
  const auto until = Clock::now() + std::chrono::minutes(10);
  while (Clock::now() < until && !HasFailure()) {
    std::mt19937 dice(chance());
    const auto percent = [&](int most) {
      return std::to_string(dice() % static_cast<unsigned>(most + 1)) + "%";
    };
    const char* const securities[] = {"none", "header", "full"};
    const std::string security = securities[dice() % 3];
    // Without security only UDP's checksum detects corruption, and these faults corrupt data above it.
    const std::string corrupt = security == "none" ? "" : ",corrupt=" + percent(1);
    const std::string faults =
        "loss=" + percent(10) + ",reorder=" + percent(25) + ",duplicate=" + percent(5) + corrupt +
        ",delay=" + std::to_string(dice() % 1000) + "us,jitter=0us,seed=" + std::to_string(dice() % 100'000);
    exchange(2 + static_cast<int>(dice() % 5), 1'000'000, 20, faults, "AQUEDUCT_UDP_SECURITY=" + security);
  }
}

}  // namespace
