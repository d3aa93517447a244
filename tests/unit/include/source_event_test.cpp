// Every put replaces the source event that it is given. If the target is mapped, the new one is done.

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

namespace aqueduct {
namespace {

TEST(SourceEvent, OfAPutToMappedMemoryIsDone) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  std::array<int, 4> values{1, 2, 3, 4};
  const GlobalPtr<int> here{0, 0};
  const std::vector<std::function<void(const PutOptions&)>> puts{
      [&](const PutOptions& options) { EXPECT_TRUE(put_nb(me, here, values, options).done()); },
      [&](const PutOptions& options) { EXPECT_TRUE(put_nbi(me, here, values, options)); },
      [&](const PutOptions& options) { EXPECT_TRUE(put_value_nb(me, here, 5, options).done()); },
      [&](const PutOptions& options) { EXPECT_TRUE(put_value_nbi(me, here, 5, options)); },
      [&](const PutOptions& options) {
        EXPECT_TRUE(put_signal_nb(me, here, values, {0, 1}, options).done());
      },
      [&](const PutOptions& options) {
        EXPECT_TRUE(put_nb(me, pieces(GlobalPtr<std::byte>{0, 0}, Strided(4, {{4, 8}})),
                           contiguous(std::as_const(values).data(), 4), options)
                        .done());
      }};
  for (std::size_t i = 0; i < puts.size(); ++i) {
    SCOPED_TRACE(i);
    // An event left by another put.
    Event source = put_nb(me, GlobalPtr<int>{9, 0}, values);
    ASSERT_EQ(source.status().code(), ErrorCode::out_of_range);
    puts[i]({.source = SourceReuse::on_event, .source_event = &source});
    EXPECT_TRUE(source.done());
    EXPECT_TRUE(source.status());
  }
}

}  // namespace
}  // namespace aqueduct
