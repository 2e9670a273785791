package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

// The values of Settings.TLSMode. They are those of libpq.
const (
	TLSDisable    = "disable"
	TLSPrefer     = "prefer"
	TLSRequire    = "require"
	TLSVerifyCA   = "verify-ca"
	TLSVerifyFull = "verify-full"
)

// defaultPoolSize is how many connections a pool may have where nothing else is said.
const defaultPoolSize = 10

// What is wrong with settings. The texts say no word of a URL, which may hold a password.
var (
	errURL       = errors.New("it must be postgres://[user[:password]@]host[:port]/database[?sslmode=verify-full]")
	errServer    = errors.New("it must name a server, or url must")
	errDatabase  = errors.New("it must name a database, or url must")
	errMode      = errors.New("it must be disable, prefer, require, verify-ca or verify-full")
	errUnchecked = errors.New("it is set, but nothing is verified with tls-mode disable or prefer")
	errPoolSize  = errors.New("it must be between 0 and 10000")
)

// Settings say where PostgreSQL is. URL, when set, stands for all others but Password and
// PoolSize. What neither says is taken from PGPASSFILE and the other variables of libpq.
type Settings struct {
	URL       config.Secret `koanf:"url" usage:"postgres://[user[:password]@]host[:port]/database[?sslmode=verify-full]; stands for host, port, database, username and TLS"`
	Host      string        `koanf:"host" usage:"host of PostgreSQL, or the directory of its socket"`
	Port      int           `koanf:"port" usage:"port of PostgreSQL"`
	Database  string        `koanf:"database" usage:"name of the database, which must exist"`
	Username  string        `koanf:"username" usage:"user of PostgreSQL, who may create tables in the database"`
	Password  config.Secret `koanf:"password" usage:"password of PostgreSQL, empty takes that of url or sends none"`
	TLSMode   string        `koanf:"tls-mode" usage:"disable, prefer, require, verify-ca or verify-full, as sslmode of libpq; over a network verify-full"`
	TLSCAFile string        `koanf:"tls-ca-file" usage:"PEM file with the authorities that sign PostgreSQL's certificate, empty takes the system's"`
	PoolSize  int           `koanf:"pool-size" usage:"most connections of this process, 0 is 10"`
}

// DefaultSettings returns the settings of a server on this machine.
func DefaultSettings() Settings {
	return Settings{Host: "127.0.0.1", Port: 5432, Database: "rsc", Username: "rsc", TLSMode: TLSPrefer}
}

// Validate reports every problem of the settings; section stands in front of the keys it
// names, for example "store.postgres".
func (s Settings) Validate(section string) error {
	var problems []error
	wrong := func(key string, value any, cause error) {
		problems = append(problems, fmt.Errorf("%s.%s is %v: %w", section, key, value, cause))
	}
	if s.PoolSize < 0 || s.PoolSize > 10_000 {
		wrong("pool-size", s.PoolSize, errPoolSize)
	}
	if s.URL != "" {
		if !s.urlNamesServer() {
			problems = append(problems, fmt.Errorf("%s.url: %w", section, errURL))
		}
		return errors.Join(problems...)
	}
	if s.Host == "" || s.Port < 1 || s.Port > 65535 {
		wrong("host", fmt.Sprintf("%q and port %d", s.Host, s.Port), errServer)
	}
	if s.Database == "" {
		wrong("database", `""`, errDatabase)
	}
	modes := []string{TLSDisable, TLSPrefer, TLSRequire, TLSVerifyCA, TLSVerifyFull}
	switch {
	case !slices.Contains(modes, s.TLSMode):
		wrong("tls-mode", strconv.Quote(s.TLSMode), errMode)
	case s.TLSCAFile != "" && (s.TLSMode == TLSDisable || s.TLSMode == TLSPrefer):
		wrong("tls-ca-file", s.TLSCAFile, errUnchecked)
	case s.TLSCAFile != "":
		if _, err := os.Stat(s.TLSCAFile); err != nil {
			problems = append(problems, fmt.Errorf("%s.tls-ca-file: %w", section, err))
		}
	}
	if len(problems) == 0 {
		if _, err := s.pool(); err != nil {
			problems = append(problems, fmt.Errorf("%s.*: %w", section, err))
		}
	}
	return errors.Join(problems...)
}

// urlNamesServer tells whether the URL can be used. The parser's own error may quote it.
func (s Settings) urlNamesServer() bool {
	parsed, err := url.Parse(s.URL.Reveal())
	if err != nil || parsed.Scheme != "postgres" && parsed.Scheme != "postgresql" {
		return false
	}
	_, err = s.pool()
	return err == nil
}

// pool returns the settings as pgx takes them.
func (s Settings) pool() (*pgxpool.Config, error) {
	text := s.URL.Reveal()
	if text == "" {
		text = s.keywords()
	}
	parsed, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	if s.Password != "" {
		parsed.ConnConfig.Password = s.Password.Reveal()
	}
	switch {
	case s.PoolSize > 0:
		parsed.MaxConns = int32(s.PoolSize)
	case !strings.Contains(text, "pool_max_conns"):
		parsed.MaxConns = defaultPoolSize
	}
	return parsed, nil
}

// keywords returns the settings in libpq's form of keyword='value'.
func (s Settings) keywords() string {
	var text strings.Builder
	for _, pair := range [][2]string{
		{"host", s.Host},
		{"port", strconv.Itoa(s.Port)},
		{"dbname", s.Database},
		{"user", s.Username},
		{"sslmode", s.TLSMode},
		{"sslrootcert", s.TLSCAFile},
	} {
		if pair[1] != "" {
			text.WriteString(pair[0] + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(pair[1]) + "' ")
		}
	}
	return text.String()
}
