#include "conduits/udp/protocol/seal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::uint64_t kJob = 0x1122334455667788;

Secret secret(int which) {
  Secret made{};
  for (std::size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<std::byte>(31 * i + static_cast<std::size_t>(which));
  return made;
}

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + 3);
  return made;
}

Seal seal(Security security, Cipher cipher = best_cipher()) {
  return Seal(security, secret(1), secret(2), 0, 1, kJob, cipher);
}

std::vector<Cipher> ciphers() {
  std::vector<Cipher> all{Cipher::chacha20_poly1305};
  if (best_cipher() == Cipher::aes256_gcm) all.push_back(Cipher::aes256_gcm);
  return all;
}

TEST(UdpSeal, SecretsDiffer) {
  Secret a{}, b{};
  ASSERT_TRUE(make_secret(a));
  ASSERT_TRUE(make_secret(b));
  EXPECT_NE(a, b);
  EXPECT_NE(a, Secret{});
}

TEST(UdpSeal, BothEndsMakeTheSameTag) {
  const auto bytes = pattern(48);
  EXPECT_EQ(seal(Security::header).tag(bytes), seal(Security::header).tag(bytes));
  EXPECT_EQ(seal(Security::none).tag(bytes), 0u);
}

TEST(UdpSeal, EveryBitIsInTheTag) {
  const Seal mine = seal(Security::header);
  auto bytes = pattern(48);
  std::set<std::uint64_t> tags{mine.tag(bytes)};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    tags.insert(mine.tag(bytes));
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  tags.insert(mine.tag(std::span(bytes).first(47)));
  EXPECT_EQ(tags.size(), 8 * bytes.size() + 2);
}

TEST(UdpSeal, KeysDependOnSecretsDirectionRanksAndJob) {
  const auto bytes = pattern(48);
  const auto h = Security::header;
  const std::set<std::uint64_t> tags{Seal(h, secret(1), secret(2), 0, 1, kJob).tag(bytes),
                                     Seal(h, secret(2), secret(1), 1, 0, kJob).tag(bytes),
                                     Seal(h, secret(2), secret(1), 0, 1, kJob).tag(bytes),
                                     Seal(h, secret(1), secret(2), 1, 0, kJob).tag(bytes),
                                     Seal(h, secret(3), secret(2), 0, 1, kJob).tag(bytes),
                                     Seal(h, secret(1), secret(3), 0, 1, kJob).tag(bytes),
                                     Seal(h, secret(1), secret(2), 2, 1, kJob).tag(bytes),
                                     Seal(h, secret(1), secret(2), 0, 2, kJob).tag(bytes),
                                     Seal(h, secret(1), secret(2), 0, 1, kJob + 1).tag(bytes)};
  EXPECT_EQ(tags.size(), 9u);
}

TEST(UdpSeal, DecryptsWhatWasEncrypted) {
  for (const Cipher cipher : ciphers()) {
    for (const std::size_t bytes : {0ul, 1ul, 15ul, 16ul, 17ul, 1400ul, 65507ul}) {
      for (const std::size_t known_bytes : {0ul, 40ul}) {
        SCOPED_TRACE(testing::Message()
                     << name_of(cipher) << ", " << bytes << " bytes, " << known_bytes << " known");
        const auto known = pattern(known_bytes);
        auto text = pattern(bytes);
        std::array<std::byte, Seal::kTrailer> trailer{};
        seal(Security::full, cipher).encrypt(known, text, trailer.data(), 7, 1);
        if (bytes >= 15) {
          EXPECT_NE(text, pattern(bytes));
        }
        ASSERT_TRUE(seal(Security::full, cipher).decrypt(known, text, trailer.data(), 7, 1));
        EXPECT_EQ(text, pattern(bytes));
      }
    }
  }
}

TEST(UdpSeal, NoticesAForgedBitAnywhere) {
  for (const Cipher cipher : ciphers()) {
    SCOPED_TRACE(name_of(cipher));
    const Seal mine = seal(Security::full, cipher);
    std::vector<std::byte> packet = pattern(20 + 50 + Seal::kTrailer);  // known, text, trailer
    const auto part = [&](std::size_t at, std::size_t bytes) { return std::span(packet).subspan(at, bytes); };
    mine.encrypt(part(0, 20), part(20, 50), packet.data() + 70, 7, 1);
    const auto genuine = packet;
    for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
      packet = genuine;
      packet[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      EXPECT_FALSE(mine.decrypt(part(0, 20), part(20, 50), packet.data() + 70, 7, 1)) << "bit " << bit;
    }
    packet = genuine;
    EXPECT_TRUE(mine.decrypt(part(0, 20), part(20, 50), packet.data() + 70, 7, 1));
  }
}

TEST(UdpSeal, NoticesAnotherNumberAttemptOrCipher) {
  for (const Cipher cipher : ciphers()) {
    const Seal mine = seal(Security::full, cipher);
    auto text = pattern(64);
    std::array<std::byte, Seal::kTrailer> trailer{};
    mine.encrypt({}, text, trailer.data(), 7, 1);
    const auto sent = text;
    const auto opens = [&](const Seal& with, std::uint64_t number, std::uint32_t attempt) {
      text = sent;
      return with.decrypt({}, text, trailer.data(), number, attempt);
    };
    EXPECT_FALSE(opens(mine, 8, 1));
    EXPECT_FALSE(opens(mine, 7, 2));
    EXPECT_FALSE(opens(mine, 7 + (1ull << 32), 1));
    EXPECT_FALSE(opens(Seal(Security::full, secret(2), secret(1), 1, 0, kJob, cipher), 7, 1));
    for (const Cipher other : ciphers()) {
      if (other == cipher) continue;
      EXPECT_FALSE(opens(seal(Security::full, other), 7, 1));
    }
    EXPECT_TRUE(opens(mine, 7, 1));
  }
}

TEST(UdpSeal, EachAttemptLooksDifferent) {
  const Seal mine = seal(Security::full);
  std::set<std::vector<std::byte>> seen;
  std::array<std::byte, Seal::kTrailer> trailer{};
  for (const std::uint64_t number : {0ull, 1ull, 1ull << 32}) {
    for (const std::uint32_t attempt : {0u, 1u}) {
      auto text = pattern(64);
      mine.encrypt({}, text, trailer.data(), number, attempt);
      seen.insert(text);
    }
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(UdpSeal, NamesTheCipher) {
  EXPECT_STREQ(cipher_name(), name_of(best_cipher()));
  EXPECT_EQ(seal(Security::full, Cipher::chacha20_poly1305).cipher(), Cipher::chacha20_poly1305);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
