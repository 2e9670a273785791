package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// MaxPassword is the longest password that is taken, in bytes.
const MaxPassword = 1024

// What HashPassword uses. One hash takes 64 MiB and about a tenth of a second of one core.
const (
	hashMemory  = 64 << 10 // KiB
	hashTime    = 3
	hashThreads = 1
	hashSalt    = 16 // bytes
	hashSum     = 32 // bytes
)

// What ParseHash takes: less is too weak to be worth storing, more would let a line of
// configuration stop the gateway.
const (
	maxHashText          = 256
	minMemory, maxMemory = 7 << 10, 256 << 10 // KiB
	maxTime, maxThreads  = 10, 16
	minSalt, minSum      = 8, 16
	maxSalt, maxSum      = 64, 64
)

// PasswordHash is an argon2id hash of a password with its parameters. The zero value matches
// no password, at no cost.
type PasswordHash struct {
	memory, time uint32
	threads      uint8
	salt, sum    []byte
}

// HashPassword returns the argon2id hash of a password, with a salt of its own, in PHC form:
// $argon2id$v=19$m=65536,t=3,p=1$salt$hash. The password has 1 to MaxPassword bytes.
func HashPassword(password string) (string, error) {
	switch {
	case password == "":
		return "", errors.New("password is empty")
	case len(password) > MaxPassword:
		return "", fmt.Errorf("password has more than %d bytes", MaxPassword)
	}
	h := PasswordHash{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, hashSalt), sum: make([]byte, hashSum)}
	if _, err := rand.Read(h.salt); err != nil {
		return "", fmt.Errorf("make a salt: %w", err)
	}
	h.sum = h.of(password)
	return h.text(), nil
}

// NoPassword returns a hash that no password matches and that costs what those of
// HashPassword cost: who asks for a user that does not exist waits as long as everybody
// else.
func NoPassword() PasswordHash {
	return PasswordHash{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, hashSalt), sum: make([]byte, hashSum)}
}

// ParseHash reads a hash in the form of HashPassword. It refuses other functions and
// versions, and parameters that are too weak (memory under 7 MiB) or too costly (over 256
// MiB, 10 passes, 16 threads). Its errors never repeat the text.
func ParseHash(text string) (PasswordHash, error) {
	parts := strings.Split(text, "$")
	if len(text) > maxHashText || len(parts) != 6 || parts[0] != "" {
		return PasswordHash{}, errors.New("password hash has not the form $argon2id$v=19$m=…,t=…,p=…$salt$hash")
	}
	if parts[1] != "argon2id" || parts[2] != "v=19" {
		return PasswordHash{}, errors.New("password hash is not argon2id of version 19")
	}
	h, err := hashParameters(parts[3])
	if err != nil {
		return PasswordHash{}, err
	}
	h.salt, err = decodeSized(parts[4], minSalt, maxSalt)
	if err != nil {
		return PasswordHash{}, fmt.Errorf("salt of the password hash: %w", err)
	}
	h.sum, err = decodeSized(parts[5], minSum, maxSum)
	if err != nil {
		return PasswordHash{}, fmt.Errorf("sum of the password hash: %w", err)
	}
	if h.text() != text {
		return PasswordHash{}, errors.New("password hash is not written in the one way that its values have")
	}
	return h, nil
}

// Matches tells whether the password is the one that was hashed. It takes the same time
// whatever the answer is.
func (h PasswordHash) Matches(password string) bool {
	if len(h.sum) == 0 {
		return false
	}
	return subtle.ConstantTimeCompare(h.of(password), h.sum) == 1
}

// String returns the parameters, which tell what a comparison costs, and nothing else.
func (h PasswordHash) String() string {
	return fmt.Sprintf("m=%d,t=%d,p=%d", h.memory, h.time, h.threads)
}

// GoString keeps %#v from showing salt and sum.
func (h PasswordHash) GoString() string { return "auth.PasswordHash{" + h.String() + "}" }

func (h PasswordHash) of(password string) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.sum)))
}

func (h PasswordHash) text() string {
	base := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, h, base.EncodeToString(h.salt), base.EncodeToString(h.sum))
}

func hashParameters(text string) (PasswordHash, error) {
	var values [3]uint64
	parts := strings.Split(text, ",")
	if len(parts) != len(values) {
		return PasswordHash{}, errors.New("password hash has not the parameters m, t and p")
	}
	for i, name := range []string{"m=", "t=", "p="} {
		number, named := strings.CutPrefix(parts[i], name)
		value, err := strconv.ParseUint(number, 10, 32)
		if !named || err != nil {
			return PasswordHash{}, fmt.Errorf("password hash has no number at %s", name)
		}
		values[i] = value
	}
	memory, passes, threads := values[0], values[1], values[2]
	switch {
	case memory < minMemory || memory > maxMemory:
		return PasswordHash{}, fmt.Errorf("password hash has m=%d, not %d to %d", memory, minMemory, maxMemory)
	case passes < 1 || passes > maxTime:
		return PasswordHash{}, fmt.Errorf("password hash has t=%d, not 1 to %d", passes, maxTime)
	case threads < 1 || threads > maxThreads:
		return PasswordHash{}, fmt.Errorf("password hash has p=%d, not 1 to %d", threads, maxThreads)
	}
	return PasswordHash{memory: uint32(memory), time: uint32(passes), threads: uint8(threads)}, nil
}

func decodeSized(text string, least, most int) ([]byte, error) {
	data, err := base64.RawStdEncoding.Strict().DecodeString(text)
	switch {
	case err != nil:
		return nil, errors.New("is not base64 without padding")
	case len(data) < least || len(data) > most:
		return nil, fmt.Errorf("has %d bytes, not %d to %d", len(data), least, most)
	}
	return data, nil
}
