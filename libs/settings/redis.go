package settings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// errNoCertificate comes when a file of authorities holds none.
var errNoCertificate = errors.New("the file holds no PEM certificate")

// Redis says where Redis is. URL, when set, stands for host, port, addresses, cluster,
// master name and database.
type Redis struct {
	URL              config.Secret `koanf:"url" usage:"redis[s]://[user:password@]host[:port][/db], redis+cluster://host,host or redis+sentinel://host,host/master"`
	Host             string        `koanf:"host" usage:"host of a single Redis"`
	Port             int           `koanf:"port" usage:"port of a single Redis"`
	Addresses        []string      `koanf:"addresses" usage:"host:port of some nodes of a cluster, or of the sentinels; stands for host and port"`
	Cluster          bool          `koanf:"cluster" usage:"the Redis is a Redis Cluster"`
	MasterName       string        `koanf:"master-name" usage:"name by which the sentinels know the primary; empty uses no Sentinel"`
	Database         int           `koanf:"database" usage:"number of the database, 0 in a cluster"`
	Username         string        `koanf:"username" usage:"user of Redis, empty is the default user"`
	Password         config.Secret `koanf:"password" usage:"password of Redis, empty sends none"`
	SentinelUsername string        `koanf:"sentinel-username" usage:"user of the sentinels"`
	SentinelPassword config.Secret `koanf:"sentinel-password" usage:"password of the sentinels"`
	TLS              bool          `koanf:"tls" usage:"encrypt connections to Redis, TLS 1.2 or newer, certificates verified"`
	TLSCAFile        string        `koanf:"tls-ca-file" usage:"PEM file with the authorities that sign Redis' certificate, empty takes the system's"`
	PoolSize         int           `koanf:"pool-size" usage:"most connections per node, 0 is 10 per CPU"`
}

// Validate reports every problem of the section and names the keys.
func (r Redis) Validate() error {
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

// Options returns the settings as redisx takes them, with the name that CLIENT LIST shows.
func (r Redis) Options(clientName string) (redisx.Options, error) {
	secured, err := r.tls()
	if err != nil {
		return redisx.Options{}, fmt.Errorf("redis.tls-ca-file: %w", err)
	}
	options := r.place()
	options.TLS = secured
	options.ClientName = clientName
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

// Dial returns the client of the settings; it does not connect yet, and is the caller's to
// close.
func (r Redis) Dial(clientName string) (redis.UniversalClient, error) {
	options, err := r.Options(clientName)
	if err != nil {
		return nil, err
	}
	client, err := redisx.New(options)
	if err != nil {
		return nil, fmt.Errorf("redis client: %w", err)
	}
	return client, nil
}
