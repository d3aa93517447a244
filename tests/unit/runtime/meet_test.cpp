// The first exchange of a job, with a second process that says what the test wants.

#include <aqueduct/version.hpp>

#include "runtime/start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::runtime {
namespace {

using testing::HasSubstr;

/// Process 0 of two.
class WithAnother final : public bootstrap::Bootstrap {
 public:
  explicit WithAnother(Blob other) : other_(std::move(other)) {}
  std::string_view launcher() const noexcept override { return "test"; }
  std::uint32_t process() const noexcept override { return 0; }
  std::uint32_t processes() const noexcept override { return 2; }
  std::uint64_t job() const noexcept override { return 1; }
  Result<std::vector<Blob>> exchange(std::span<const std::byte> mine) override {
    return std::vector<Blob>{{mine.begin(), mine.end()}, other_};
  }
  void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
  void leave() noexcept override {}
  void abort(int, std::string_view) noexcept override {}

 private:
  const Blob other_;
};

struct Outcome {
  Status status;
  std::string said;
};
Outcome meet_one_that_says(const Blob& other) {
  Job::Impl job{Config()};
  job.bootstrap = std::make_unique<WithAnother>(other);
  testing::internal::CaptureStderr();
  const Status status = meet(job, 1);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Meet, NamesBothVersionsThoughTheOtherSaysLessOfItself) {
  BlobWriter older;
  older.number(20304);
  const Outcome outcome = meet_one_that_says(older.blob());
  EXPECT_EQ(outcome.status.code(), ErrorCode::version_mismatch);
  EXPECT_THAT(outcome.said,
              HasSubstr("process 1 runs Aqueduct 2.3.4 and this one " + std::string(library_version_text())));
}

TEST(Meet, RefusesWhatItCannotRead) {
  BlobWriter cut;
  cut.number(library_version());
  cut.number(1);
  const Outcome outcome = meet_one_that_says(cut.blob());
  EXPECT_EQ(outcome.status.code(), ErrorCode::bootstrap_failed);
  EXPECT_THAT(outcome.said, HasSubstr("what process 1 says of itself cannot be read"));
}

}  // namespace
}  // namespace aqueduct::runtime
