package redisx

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Capabilities are commands that only newer servers know.
type Capabilities struct {
	// AckDel is XACKDEL: acknowledge and delete in one step.
	AckDel bool
	// Nack is XNACK: hand a pending entry back.
	Nack bool
	// ShardedPubSub is SPUBLISH: messages that stay on the slot of their channel.
	ShardedPubSub bool
}

// Probe asks the server which of the commands it knows, each by the command itself
// without arguments, which changes nothing: a server that knows it complains about
// the arguments. In a cluster a capability counts only when every primary has it.
// It fails when a server does not answer; nothing is concluded from that. A
// permission is not probed: a known command may still be StateNoPerm.
func Probe(ctx context.Context, rdb redis.UniversalClient) (Capabilities, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return probeNode(ctx, rdb)
	}
	all := Capabilities{AckDel: true, Nack: true, ShardedPubSub: true}
	var mu sync.Mutex
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one, err := probeNode(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		all.AckDel = all.AckDel && one.AckDel
		all.Nack = all.Nack && one.Nack
		all.ShardedPubSub = all.ShardedPubSub && one.ShardedPubSub
		return err
	})
	if err != nil {
		return Capabilities{}, err
	}
	return all, nil
}

func probeNode(ctx context.Context, rdb redis.UniversalClient) (Capabilities, error) {
	var c Capabilities
	probes := []struct {
		name  string
		known *bool
		reply *redis.Cmd
	}{
		{name: "XACKDEL", known: &c.AckDel},
		{name: "XNACK", known: &c.Nack},
		{name: "SPUBLISH", known: &c.ShardedPubSub},
	}
	pipe := rdb.Pipeline()
	for i := range probes {
		probes[i].reply = pipe.Do(ctx, probes[i].name)
	}
	_, _ = pipe.Exec(ctx) // each command carries its own error.
	for _, p := range probes {
		known, err := knows(p.reply.Err())
		if err != nil {
			return Capabilities{}, fmt.Errorf("probe %s: %w", p.name, err)
		}
		*p.known = known
	}
	return c, nil
}

// knows reads the answer to a command without arguments.
func knows(err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case StateOf(err) == StateNoPerm:
		return false, nil
	case strings.HasPrefix(err.Error(), "ERR wrong number of arguments"):
		return true, nil
	case strings.HasPrefix(err.Error(), "ERR unknown command"):
		return false, nil
	default:
		return false, err
	}
}
