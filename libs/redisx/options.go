package redisx

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// ErrOptions comes when Options or a URL do not describe a Redis that can be
// reached. Its text never contains a password.
var ErrOptions = errors.New("invalid Redis options")

// Options says which Redis to talk to and how. Addrs alone is a standalone server,
// MasterName makes it a Sentinel set, Cluster a Redis Cluster.
type Options struct {
	// URL in a form of ParseURL; it stands for Addrs, MasterName, Cluster and DB,
	// and those are then left empty. Username, Password and TLS win over the URL's,
	// so that a secret can come from a file.
	URL string
	// Addrs as host:port: the server, the sentinels, or seeds of the cluster.
	Addrs []string
	// Username and Password of the data servers; empty sends no AUTH.
	Username, Password string
	// DB is the number of the database; a cluster has only 0.
	DB int
	// MasterName is the name under which sentinels know the primary.
	MasterName string
	// SentinelUsername and SentinelPassword are those of the sentinels themselves.
	SentinelUsername, SentinelPassword string
	// Cluster selects a Redis Cluster, also with a single seed address.
	Cluster bool
	// TLS is used when it is not nil. The server name defaults to the host dialled.
	TLS *tls.Config
	// ClientName is shown by CLIENT LIST; empty sets none.
	ClientName string
	// PoolSize is the most connections per node; 0 is 10 per CPU, 5 in a cluster.
	PoolSize int
	// DialTimeout bounds a connection attempt; 0 is 5 s.
	DialTimeout time.Duration
	// ReadTimeout bounds a wait for a reply, blocking commands add their own time;
	// 0 is 5 s.
	ReadTimeout time.Duration
}

// resolved returns the options with the URL taken apart, or what is wrong.
func (o Options) resolved() (Options, error) {
	if o.URL != "" {
		merged, err := o.withURL()
		if err != nil {
			return Options{}, err
		}
		o = merged
	}
	switch {
	case len(o.Addrs) == 0:
		return Options{}, fmt.Errorf("%w: no address", ErrOptions)
	case o.Cluster && o.MasterName != "":
		return Options{}, fmt.Errorf("%w: a cluster has no master name", ErrOptions)
	case o.Cluster && o.DB != 0:
		return Options{}, fmt.Errorf("%w: a cluster has only database 0, not %d", ErrOptions, o.DB)
	case o.DB < 0:
		return Options{}, fmt.Errorf("%w: database %d", ErrOptions, o.DB)
	case !o.Cluster && o.MasterName == "" && len(o.Addrs) > 1:
		return Options{}, fmt.Errorf("%w: %d addresses need Cluster or MasterName", ErrOptions, len(o.Addrs))
	}
	return o, nil
}

func (o Options) withURL() (Options, error) {
	if len(o.Addrs) > 0 || o.MasterName != "" || o.Cluster || o.DB != 0 {
		return Options{}, fmt.Errorf("%w: URL excludes Addrs, MasterName, Cluster and DB", ErrOptions)
	}
	from, err := ParseURL(o.URL)
	if err != nil {
		return Options{}, err
	}
	o.URL, o.Addrs, o.MasterName, o.Cluster, o.DB = "", from.Addrs, from.MasterName, from.Cluster, from.DB
	if o.Username == "" {
		o.Username = from.Username
	}
	if o.Password == "" {
		o.Password = from.Password
	}
	if o.TLS == nil {
		o.TLS = from.TLS
	}
	return o, nil
}
