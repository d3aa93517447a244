#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::conduits::udp {

/// How packets are protected. header: everything but bulk data is authenticated. full: all is encrypted and
/// authenticated. none: nothing.
enum class Security : std::uint8_t { none, header, full };

using Secret = std::array<std::byte, 32>;

/// A fresh secret of this endpoint, from the system's random source. False: there is none.
bool make_secret(Secret& into) noexcept;

/// How `full` encrypts.
enum class Cipher : std::uint8_t { aes256_gcm, chacha20_poly1305 };
const char* name_of(Cipher cipher) noexcept;  ///< "AES-256-GCM" or "ChaCha20-Poly1305"
/// AES-256-GCM where this processor has instructions for it, else ChaCha20-Poly1305. Both ends must use one
/// cipher, so peers exchange this and take AES only if both have it.
Cipher best_cipher() noexcept;

/// The keys of one direction between two endpoints, made of both their secrets, which only the job's members
/// know.
class Seal {
 public:
  /// `from`, `to`: ranks of sender and receiver; `job`: the job's number. `cipher` is one that this processor
  /// has.
  Seal(Security security, const Secret& from_secret, const Secret& to_secret, std::uint32_t from,
       std::uint32_t to, std::uint64_t job, Cipher cipher = best_cipher()) noexcept;
  Seal(const Seal&) noexcept = default;
  Seal& operator=(const Seal&) noexcept = default;
  ~Seal();  ///< wipes the keys

  /// Keyed hash of the bytes (SipHash-2-4, libsodium crypto_shorthash). 0 with Security::none.
  std::uint64_t tag(std::span<const std::byte> bytes) const noexcept;

  Cipher cipher() const noexcept { return cipher_; }

  /// Bytes that full encryption adds at the end.
  static constexpr std::size_t kTrailer = 16;
  /// Encrypts `text` in place and writes kTrailer bytes at `trailer`. `known` is authenticated too. A pair
  /// (number, attempt) must never be used twice with different text: it makes the nonce.
  void encrypt(std::span<const std::byte> known, std::span<std::byte> text, std::byte* trailer,
               std::uint64_t number, std::uint32_t attempt) const noexcept;
  /// False: forged or damaged, `text` is then worthless.
  bool decrypt(std::span<const std::byte> known, std::span<std::byte> text, const std::byte* trailer,
               std::uint64_t number, std::uint32_t attempt) const noexcept;

 private:
  using Key = std::array<unsigned char, 32>;

  Security security_;
  Cipher cipher_;
  std::array<unsigned char, 16> tag_key_{};
  Key data_key_{};
  alignas(16) std::array<unsigned char, 512> aes_state_{};  // the key, expanded once
};

/// What `full` uses on this processor if its peer has the same.
const char* cipher_name() noexcept;

}  // namespace aqueduct::conduits::udp
