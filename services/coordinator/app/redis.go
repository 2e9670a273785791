package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// errNoCertificate comes when a file of authorities holds none.
var errNoCertificate = errors.New("the file holds no PEM certificate")

// validate reports every problem of the section.
func (r Redis) validate() error {
	if r.URL != "" {
		if _, err := redisx.ParseURL(r.URL.Reveal()); err != nil {
			return fmt.Errorf("redis.url: %w", err)
		}
		return r.validateFile()
	}
	problems := []error{r.validateFile()}
	if len(r.Addresses) == 0 && (r.Host == "" || r.Port < 1 || r.Port > 65535) {
		problems = append(problems, fmt.Errorf("redis.host is %q and redis.port %d, they must name a server", r.Host, r.Port))
	}
	for _, address := range r.Addresses {
		if host, _, err := net.SplitHostPort(address); err != nil || host == "" {
			problems = append(problems, fmt.Errorf("redis.addresses has %q, entries must be host:port", address))
		}
	}
	if r.PoolSize < 0 {
		problems = append(problems, fmt.Errorf("redis.pool-size is %d, it must not be negative", r.PoolSize))
	}
	if client, err := redisx.New(r.place()); err != nil {
		problems = append(problems, fmt.Errorf("redis.*: %w", err))
	} else {
		problems = append(problems, client.Close())
	}
	return errors.Join(problems...)
}

func (r Redis) validateFile() error {
	if _, err := r.tls(); err != nil {
		return fmt.Errorf("redis.tls-ca-file: %w", err)
	}
	return nil
}

// Options returns the settings as redisx takes them.
func (r Redis) Options() (redisx.Options, error) {
	secured, err := r.tls()
	if err != nil {
		return redisx.Options{}, fmt.Errorf("redis.tls-ca-file: %w", err)
	}
	options := r.place()
	options.TLS = secured
	options.ClientName = "rsc-coordinator"
	options.PoolSize = r.PoolSize
	options.Username, options.Password = r.Username, r.Password.Reveal()
	options.SentinelUsername, options.SentinelPassword = r.SentinelUsername, r.SentinelPassword.Reveal()
	return options, nil
}

// place returns the options that say where Redis is.
func (r Redis) place() redisx.Options {
	if r.URL != "" {
		return redisx.Options{URL: r.URL.Reveal()}
	}
	addresses := r.Addresses
	if len(addresses) == 0 {
		addresses = []string{net.JoinHostPort(r.Host, strconv.Itoa(r.Port))}
	}
	return redisx.Options{Addrs: addresses, Cluster: r.Cluster, MasterName: r.MasterName, DB: r.Database}
}

// tls returns nil without TLS. A file of authorities alone asks for it too.
func (r Redis) tls() (*tls.Config, error) {
	if !r.TLS && r.TLSCAFile == "" {
		return nil, nil
	}
	secured := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.TLSCAFile == "" {
		return secured, nil
	}
	data, err := os.ReadFile(r.TLSCAFile)
	if err != nil {
		return nil, err
	}
	secured.RootCAs = x509.NewCertPool()
	if !secured.RootCAs.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s: %w", r.TLSCAFile, errNoCertificate)
	}
	return secured, nil
}

// dial returns the client of the settings; it does not connect yet.
func (r Redis) dial() (redis.UniversalClient, error) {
	options, err := r.Options()
	if err != nil {
		return nil, err
	}
	client, err := redisx.New(options)
	if err != nil {
		return nil, fmt.Errorf("redis client: %w", err)
	}
	return client, nil
}
