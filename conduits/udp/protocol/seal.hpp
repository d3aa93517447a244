#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::conduits::udp {

/// How packets are protected. header: everything except bulk data is authenticated. full: everything is encrypted and
/// authenticated. none: no protection.
enum class Security : std::uint8_t { none, header, full };

using Secret = std::array<std::byte, 32>;

/// Makes a secret for this endpoint from the system's random source. False: the source is not available.
bool make_secret(Secret& into) noexcept;

/// The cipher of Security::full.
enum class Cipher : std::uint8_t { aes256_gcm, chacha20_poly1305 };
const char* name_of(Cipher cipher) noexcept;  ///< "AES-256-GCM" or "ChaCha20-Poly1305"
/// AES-256-GCM if this processor has instructions for it, else ChaCha20-Poly1305. Both ends must use the same cipher,
/// so peers exchange this value and use AES only if both have it.
Cipher best_cipher() noexcept;

/// The keys of one direction between two endpoints. Derived from both endpoints' secrets, which only members of the job
/// know.
class Seal {
 public:
  /// `from`, `to`: ranks of sender and receiver. `job`: the job's number. Requires: this processor supports `cipher`.
  Seal(Security security, const Secret& from_secret, const Secret& to_secret, std::uint32_t from,
       std::uint32_t to, std::uint64_t job, Cipher cipher = best_cipher()) noexcept;
  Seal(const Seal&) noexcept = default;
  Seal& operator=(const Seal&) noexcept = default;
  ~Seal();  ///< wipes the keys

  /// Keyed hash of the bytes (SipHash-2-4, crypto_shorthash of libsodium). 0 with Security::none.
  std::uint64_t tag(std::span<const std::byte> bytes) const noexcept;

  Cipher cipher() const noexcept { return cipher_; }

  /// Bytes that encryption appends: the authentication tag.
  static constexpr std::size_t kTrailer = 16;
  /// Encrypts `text` in place and writes kTrailer bytes at `trailer`. Also authenticates `known`. The pair (number,
  /// attempt) is the nonce: it must never be used twice with different text.
  void encrypt(std::span<const std::byte> known, std::span<std::byte> text, std::byte* trailer,
               std::uint64_t number, std::uint32_t attempt) const noexcept;
  /// Decrypts `text` in place. False: forged or damaged; the contents of `text` are then undefined.
  bool decrypt(std::span<const std::byte> known, std::span<std::byte> text, const std::byte* trailer,
               std::uint64_t number, std::uint32_t attempt) const noexcept;

 private:
  using CipherKey = std::array<unsigned char, 32>;

  Security security_;
  Cipher cipher_;
  std::array<unsigned char, 16> tag_key_{};
  CipherKey data_key_{};
  alignas(16) std::array<unsigned char, 512> aes_state_{};  // the key, expanded once
};

/// Name of the cipher that `full` uses on this processor if its peer has the same.
const char* cipher_name() noexcept;

}  // namespace aqueduct::conduits::udp
