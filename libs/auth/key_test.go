package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// A change of the derivation would log everybody out.
func TestKeyOfASecretStaysTheSame(t *testing.T) {
	t.Parallel()
	require.Equal(t, "UTC-Xsn8Siv76s4ki50TFEK0uXvUyKic_l4X5tEmtO8", fromSecret(t, secret).ID())
	again, err := auth.Derive(secret, "redis-stream-coordinator token signing key 1", ed25519.SeedSize)
	require.NoError(t, err)
	require.Equal(t, ed25519.NewKeyFromSeed(again).Public(), fromSecret(t, secret).Public())
}

// RFC 8037, appendix A.3.
func TestKeyIDIsTheThumbprint(t *testing.T) {
	t.Parallel()
	seed := "\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4\x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60"
	key, err := auth.KeyFromPEM(pemOf(t, ed25519.NewKeyFromSeed([]byte(seed))))
	require.NoError(t, err)
	require.Equal(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", key.ID())
}

func TestKeysOfTwoSecretsDiffer(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, text := range []string{secret, secret[:31], secret + "0", secret + "\n", " " + secret, strings.ToUpper(secret), "1" + secret[1:], secret + "\x00"} {
		id := fromSecret(t, text).ID()
		require.NotContains(t, ids, id, "%q and %q", text, ids[id])
		ids[id] = text
	}
}

func TestPurposesKeepDerivedKeysApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, purpose := rapid.String(), rapid.SampledFrom([]string{"", "a", "ab", "b", "session cookie"})
		secrets, purposes := [2]string{text.Draw(t, "s1"), text.Draw(t, "s2")}, [2]string{purpose.Draw(t, "p1"), purpose.Draw(t, "p2")}
		first, err := auth.Derive(secrets[0], purposes[0], 32)
		require.NoError(t, err)
		second, err := auth.Derive(secrets[1], purposes[1], 32)
		require.NoError(t, err)
		require.Len(t, first, 32)
		require.Equal(t, secrets[0] == secrets[1] && purposes[0] == purposes[1], string(first) == string(second))
	})
	_, err := auth.Derive(secret, "much", 1<<20)
	require.Error(t, err, "HKDF gives no more than 255 blocks")
}

func TestKeyFileOfOpenSSLIsRead(t *testing.T) {
	t.Parallel()
	// openssl genpkey -algorithm ed25519
	text := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIGV5gkLBHBo2EJ9T9KSkvY/1DIwyWZ01Iv3jr8kFA2Ud\n-----END PRIVATE KEY-----\n"
	want, err := auth.KeyFromPEM([]byte(text))
	require.NoError(t, err)
	for _, same := range []string{strings.TrimSpace(text), text + "\n\n", strings.ReplaceAll(text, "\n", "\r\n"), "\n" + text} {
		got, err := auth.KeyFromPEM([]byte(same))
		require.NoError(t, err, "%q", same)
		require.Equal(t, want, got)
	}
}

func TestKeyFileOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	good := string(pemOf(t, private))
	block, _ := pem.Decode([]byte(good))
	retyped := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block.Bytes}))
	}
	for name, text := range map[string]string{
		"RSA": string(pemOf(t, rsaKey)), "EC": string(pemOf(t, ecKey)), "two keys": good + good, "a key and text": good + "x", "nothing": "", "text": "hunter2",
		"cut": good[:len(good)-20], "encrypted": retyped("ENCRYPTED PRIVATE KEY"), "public": retyped("PUBLIC KEY"), "certificate": retyped("CERTIFICATE"),
		"no DER": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hunter2")})), "empty": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY"})),
		"garbage": "\x00\xff\x00", "RSA and ours": string(pemOf(t, rsaKey)) + good,
	} {
		key, err := auth.KeyFromPEM([]byte(text))
		require.Error(t, err, name)
		require.Zero(t, key, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestKeyDoesNotPrintItsPrivateHalf(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, text := range []string{fmt.Sprint(f.key), fmt.Sprintf("%+v", f.key), fmt.Sprintf("%#v", f.key), fmt.Sprint(&f.key), fmt.Sprintf("%v %+v", f.ring, *f.ring)} {
		for _, shown := range []string{fmt.Sprintf("%d", f.private[:8]), hex.EncodeToString(f.private[:8]), fmt.Sprintf("%#v", []byte(f.private[:8]))} {
			require.NotContains(t, text, strings.Trim(shown, "[]"))
		}
		require.NotContains(t, text, "48 49 50 51")
		require.NotContains(t, text, "0x30, 0x31, 0x32")
	}
}
