package auth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// salted and summed are parts of a hash of the right sizes.
const (
	salted = "AAECAwQFBgcICQoLDA0ODw"
	summed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
)

func TestHashedPasswordMatchesItselfOnly(t *testing.T) {
	t.Parallel()
	text, err := auth.HashPassword("correct horse")
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=65536,t=3,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, text)
	hash, err := auth.ParseHash(text)
	require.NoError(t, err)
	require.True(t, hash.Matches("correct horse"))
	require.False(t, hash.Matches("correct horse "))
	require.False(t, hash.Matches(""))
}

func TestSamePasswordHashesDifferently(t *testing.T) {
	t.Parallel()
	one, err := auth.HashPassword("p")
	require.NoError(t, err)
	other, err := auth.HashPassword("p")
	require.NoError(t, err)
	require.NotEqual(t, one, other)
}

func TestPasswordOfOddLengthIsNotHashed(t *testing.T) {
	t.Parallel()
	_, err := auth.HashPassword("")
	require.Error(t, err)
	_, err = auth.HashPassword(strings.Repeat("p", auth.MaxPassword+1))
	require.Error(t, err)
}

// The vector was made by the reference implementation:
// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32.
func TestHashOfTheReferenceImplementationIsUnderstood(t *testing.T) {
	t.Parallel()
	hash, err := auth.ParseHash("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	require.NoError(t, err)
	require.True(t, hash.Matches("password"))
	require.False(t, hash.Matches("differentpassword"))
}

func TestNoPasswordMatchesNothingAtTheUsualCost(t *testing.T) {
	t.Parallel()
	text, err := auth.HashPassword("p")
	require.NoError(t, err)
	usual, err := auth.ParseHash(text)
	require.NoError(t, err)
	require.Equal(t, usual.String(), auth.NoPassword().String())
	require.False(t, auth.NoPassword().Matches(""))
	require.False(t, auth.PasswordHash{}.Matches(""))
}

func TestHashIsNeverPrinted(t *testing.T) {
	t.Parallel()
	hash, err := auth.ParseHash("$argon2id$v=19$m=65536,t=3,p=1$" + salted + "$" + summed)
	require.NoError(t, err)
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		printed := fmt.Sprintf(form, hash)
		require.Contains(t, printed, "m=65536,t=3,p=1")
		require.NotContains(t, printed, salted)
		require.NotContains(t, printed, "1 2 3")
		require.NotContains(t, printed, "0x1")
	}
}

func TestWhatIsNoSafeHashIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	good := "$argon2id$v=19$m=65536,t=3,p=1$" + salted + "$" + summed
	_, err := auth.ParseHash(good)
	require.NoError(t, err)
	changed := func(old, instead string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, instead, 1)
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"plain password":        "hunter2hunter2",
		"bcrypt":                "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
		"argon2i":               changed("argon2id", "argon2i"),
		"argon2d":               changed("argon2id", "argon2d"),
		"other version":         changed("v=19", "v=16"),
		"no version":            changed("v=19$", ""),
		"something before":      "x" + good,
		"something after":       good + "$",
		"line after":            good + "\n",
		"no memory":             changed("m=65536", "m=0"),
		"weak memory":           changed("m=65536", "m=7167"),
		"64 GiB":                changed("m=65536", "m=67108864"),
		"memory beyond 32 bits": changed("m=65536", "m=4295032832"),
		"negative memory":       changed("m=65536", "m=-1"),
		"memory with sign":      changed("m=65536", "m=+65536"),
		"memory with zeros":     changed("m=65536", "m=065536"),
		"memory in hex":         changed("m=65536", "m=0x10000"),
		"no pass":               changed("t=3", "t=0"),
		"many passes":           changed("t=3", "t=4000000000"),
		"no thread":             changed("p=1", "p=0"),
		"many threads":          changed("p=1", "p=255"),
		"threads beyond 8 bits": changed("p=1", "p=257"),
		"other order":           changed("m=65536,t=3,p=1", "t=3,m=65536,p=1"),
		"parameter twice":       changed("p=1", "p=1,p=1"),
		"short salt":            changed(salted, "AAECAwQFBg"),
		"no salt":               changed(salted, ""),
		"padded salt":           changed(salted, salted+"=="),
		"loose bits in salt":    changed(salted, "AAECAwQFBgcICQoLDA0ODx"),
		"line in salt":          changed(salted, "AAECAwQFBgcI\nCQoLDA0ODw"),
		"short sum":             changed(summed, "AAECAwQFBgcICQoLDA0O"),
		"no sum":                changed(summed, ""),
		"URL base64":            changed(summed, strings.Replace(summed, "A", "_", 1)),
		"long text":             good + strings.Repeat("A", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := auth.ParseHash(text)
			require.Error(t, err)
			if len(text) > 10 {
				require.NotContains(t, err.Error(), text)
			}
			require.NotContains(t, err.Error(), summed)
		})
	}
}
