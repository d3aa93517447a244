// Writes a corpus for vis_decode: descriptions of shapes of each form.
//   build/fuzz/bin/vis_decode_corpus fuzz/corpus/vis_decode
#include "tests/support/random_shape.hpp"
#include "vis/describe.hpp"
#include "vis/survey.hpp"

#include <fstream>
#include <string>

int main(int argc, char** argv) {
  using namespace aqueduct;
  if (argc != 2) return 2;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    test::RandomShapes random(seed);
    const test::AnyShape made = random.of_sum(1 + random.below(300));
    const vis::Survey found = vis::survey(made.shape);
    vis::Cursor there(made.shape, found.bytes);
    std::byte text[512];
    const auto said = vis::describe_pieces(made.shape, found.bytes, there, {sizeof text, 512, 1024, 1}, text);
    std::ofstream out(std::string(argv[1]) + "/shape_" + std::to_string(seed), std::ios::binary);
    const auto put = [&](auto value) { out.write(reinterpret_cast<const char*>(&value), sizeof value); };
    put(static_cast<std::uint8_t>(said.form));
    put(std::uint8_t{0});
    put(static_cast<std::uint16_t>(found.highest));
    put(static_cast<std::uint32_t>(said.data));
    put(made.shape.base);
    out.write(reinterpret_cast<const char*>(text), said.bytes);
  }
  return 0;
}
