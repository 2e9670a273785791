package postgrestest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

func TestTLSIsVerifiedWhereTheModeSaysSo(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	location, err := url.Parse(server.Database(t))
	require.NoError(t, err)
	ours, others := certificate(t), certificate(t)
	give(t, server, "server.crt", ours.certificate)
	give(t, server, "server.key", ours.key)
	server.Exec(t, "postgres", "ALTER SYSTEM SET ssl = on")
	server.Restart()

	port, err := strconv.Atoi(location.Port())
	require.NoError(t, err)
	encrypted := func(mode, authorities string) (bool, error) {
		settings := postgres.Settings{
			Host: "127.0.0.1", Port: port, Database: location.Path[1:], Username: postgresproc.Owner, TLSMode: mode, TLSCAFile: authorities,
		}
		require.NoError(t, settings.Validate("store.postgres"))
		pool, err := postgres.Open(t.Context(), settings, postgres.Options{})
		require.NoError(t, err)
		defer pool.Close()
		var is bool
		err = pool.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&is)
		return is, err
	}
	for mode, want := range map[string]bool{postgres.TLSDisable: false, postgres.TLSPrefer: true, postgres.TLSRequire: true} {
		is, err := encrypted(mode, "")
		require.NoError(t, err, mode)
		require.Equal(t, want, is, mode)
	}
	for _, mode := range []string{postgres.TLSRequire, postgres.TLSVerifyCA, postgres.TLSVerifyFull} {
		is, err := encrypted(mode, file(t, ours.certificate))
		require.NoError(t, err, mode)
		require.True(t, is, mode)
		_, err = encrypted(mode, file(t, others.certificate))
		require.ErrorContains(t, err, "certificate signed by unknown authority", mode)
	}
	_, err = encrypted(postgres.TLSVerifyFull, "")
	require.Error(t, err, "the system knows no such authority")
}

// pair is a certificate of 127.0.0.1 that signs itself, and its key, as PEM.
type pair struct {
	certificate, key []byte
}

func certificate(t *testing.T) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "postgres"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return pair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

func file(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// give puts a file into the data directory, as the server's own.
func give(t *testing.T, server *postgresproc.Server, name string, data []byte) {
	t.Helper()
	path := filepath.Join(server.Data(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	info, err := os.Stat(server.Data())
	require.NoError(t, err)
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
	}
}
