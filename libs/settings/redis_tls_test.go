package settings_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// encrypted is a server that greets like a Redis over TLS, with a certificate for 127.0.0.1 of
// an authority that no system knows. It returns its port and the authority's file.
func encrypted(t *testing.T) (port int, authority string) {
	t.Helper()
	lender := httptest.NewUnstartedServer(nil)
	lender.StartTLS()
	certificate := lender.TLS.Certificates[0]
	lender.Close()
	authority = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	require.NoError(t, os.WriteFile(authority, block, 0o600))
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}})
	require.NoError(t, err)
	served := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			pong(conn)
			_ = conn.Close()
		}
	}()
	address, is := listener.Addr().(*net.TCPAddr)
	require.True(t, is)
	return address.Port, authority
}

// pong answers everything but the greeting of newer servers, until the caller goes.
func pong(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "*") || !lines.Scan() || !lines.Scan() {
			continue
		}
		answer := "+PONG\r\n"
		if strings.EqualFold(lines.Text(), "hello") {
			answer = "-ERR unknown command\r\n"
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

// reliability 5, Redis: TLS verifies by default.
func TestACertificateOfAnUnknownAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	port, authority := encrypted(t)
	ping := func(at settings.Redis) error {
		rdb, err := at.Dial("test")
		require.NoError(t, err)
		defer func() { _ = rdb.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		return rdb.Ping(ctx).Err()
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for name, at := range map[string]settings.Redis{
		"redis.tls": {Host: "127.0.0.1", Port: port, TLS: true},
		"redis.url": {URL: config.Secret("rediss://" + address)},
	} {
		require.ErrorContains(t, ping(at), "unknown authority", name)
	}
	require.NoError(t, ping(settings.Redis{Host: "127.0.0.1", Port: port, TLSCAFile: authority}), "with its authority it is taken")
	require.NoError(t, ping(settings.Redis{URL: config.Secret("rediss://" + address), TLSCAFile: authority}))
}
