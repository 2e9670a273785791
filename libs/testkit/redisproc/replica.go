package redisproc

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
)

// AddReplica adds a replica of the i-th master, counted from 0, and returns when it
// has the master's data and every node knows it. It is no part of Node and Addrs.
func (c *Cluster) AddReplica(t testing.TB, i int) *Server {
	t.Helper()
	bus := freeport.Take(t)
	replica := Start(t, clusterArgs(bus)...)
	c.replicas++
	for _, node := range c.nodes {
		if err := node.run(t.Context(), "CLUSTER", "MEET", "127.0.0.1", replica.port, bus); err != nil {
			t.Fatalf("introduce a replica to %s: %v", node.Addr(), err)
		}
	}
	if err := poll(c.complete); err != nil {
		t.Fatalf("wait for the replica to be known: %v", err)
	}
	if err := poll(func(ctx context.Context) error { return c.follow(ctx, replica, i) }); err != nil {
		t.Fatalf("attach the replica to master %d: %v", i, err)
	}
	if err := poll(replica.synced); err != nil {
		t.Fatalf("wait for the replica of master %d: %v", i, err)
	}
	if err := poll(func(ctx context.Context) error { return c.lists(ctx, replica) }); err != nil {
		t.Fatalf("wait for the nodes to list the replica of master %d: %v", i, err)
	}
	return replica
}

// follow makes the replica one of master i. It fails until the replica knows it.
func (c *Cluster) follow(ctx context.Context, replica *Server, i int) error {
	var master string
	err := c.nodes[i].withClient(ctx, func(ctx context.Context, rdb *redis.Client) error {
		var err error
		master, err = rdb.ClusterMyID(ctx).Result()
		return err
	})
	if err != nil {
		return err
	}
	return replica.run(ctx, "CLUSTER", "REPLICATE", master)
}

// synced returns nil once the server has the data of its master.
func (s *Server) synced(ctx context.Context) error {
	return s.withClient(ctx, func(ctx context.Context, rdb *redis.Client) error {
		info, err := rdb.Info(ctx, "replication").Result()
		if err != nil {
			return err
		}
		if !strings.Contains(info, "master_link_status:up\r\n") {
			return fmt.Errorf("%w: the replica is still copying", errState)
		}
		return nil
	})
}

// lists returns nil once every master names the replica in its map of slots, from
// which clients learn whom they may ask.
func (c *Cluster) lists(ctx context.Context, replica *Server) error {
	for _, node := range c.nodes {
		err := node.withClient(ctx, func(ctx context.Context, rdb *redis.Client) error {
			slots, err := rdb.Do(ctx, "CLUSTER", "SLOTS").Result()
			if err != nil {
				return err
			}
			if strings.Contains(fmt.Sprint(slots), "[127.0.0.1 "+replica.port+" ") {
				return nil
			}
			return fmt.Errorf("%w: %s does not list the replica", errState, node.Addr())
		})
		if err != nil {
			return err
		}
	}
	return nil
}
