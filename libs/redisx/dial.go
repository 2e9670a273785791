package redisx

import (
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// New returns a client for the options. It does not connect yet and the caller
// closes it. The client never routes a command to a replica, and it honours the
// deadline of a context. It fails only with ErrOptions.
func New(o Options) (redis.UniversalClient, error) {
	o, err := o.resolved()
	if err != nil {
		return nil, err
	}
	u := o.universal()
	switch {
	case o.Cluster:
		return redis.NewClusterClient(u.Cluster()), nil
	case o.MasterName != "":
		return redis.NewFailoverClient(u.Failover()), nil
	default:
		return redis.NewClient(u.Simple()), nil
	}
}

func (o Options) universal() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs:                    o.Addrs,
		ClientName:               o.ClientName,
		DB:                       o.DB,
		Username:                 o.Username,
		Password:                 o.Password,
		SentinelUsername:         o.SentinelUsername,
		SentinelPassword:         o.SentinelPassword,
		MasterName:               o.MasterName,
		TLSConfig:                o.TLS,
		PoolSize:                 o.PoolSize,
		DialTimeout:              o.DialTimeout,
		ReadTimeout:              o.ReadTimeout,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: noMaintenance(),
	}
}

// noMaintenance switches off a handshake that only some hosted servers answer.
// Failovers and moved slots are seen by the errors they cause.
func noMaintenance() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}
