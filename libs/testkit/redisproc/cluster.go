package redisproc

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
)

const slotCount = 16_384

// Cluster is a Redis Cluster of masters, without replicas until AddReplica.
type Cluster struct {
	nodes    []*Server
	buses    []string
	replicas int
}

// StartCluster runs a Redis Cluster of so many masters, at least three as Redis
// asks for, with the slots spread evenly. It returns when every node reports a
// complete cluster. Cluster needs ModeProcess.
func StartCluster(t testing.TB, masters int, opts ...Option) *Cluster {
	t.Helper()
	if mode := SelectedMode(t); mode != ModeProcess {
		t.Fatalf("a cluster needs %s=%s, not %q", ModeVariable, ModeProcess, mode)
	}
	if masters < 3 {
		t.Fatalf("a Redis Cluster has at least 3 masters, not %d", masters)
	}
	c := &Cluster{}
	for range masters {
		bus := freeport.Take(t)
		c.buses = append(c.buses, bus)
		c.nodes = append(c.nodes, Start(t, append(clusterArgs(bus), opts...)...))
	}
	if err := c.join(t.Context()); err != nil {
		t.Fatalf("join the nodes of the cluster: %v", err)
	}
	if err := poll(c.complete); err != nil {
		t.Fatalf("wait for the cluster: %v", err)
	}
	return c
}

// Node returns node i, counted from 0; it holds the i-th part of the slots.
func (c *Cluster) Node(i int) *Server { return c.nodes[i] }

// Addrs returns host:port of every master.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// Client returns a new client of the cluster, closed when the test t ends.
func (c *Cluster) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	rdb := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                    c.Addrs(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// clusterArgs configures a node. Nodes list a replica only after its first
// replication ping, which by default comes after 10 seconds.
func clusterArgs(bus string) []Option {
	return []Option{WithArgs(
		"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-announce-ip", "127.0.0.1",
		"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "15000",
		"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
	)}
}

// join hands out the slots and then introduces every node to every later one.
func (c *Cluster) join(ctx context.Context) error {
	for i, node := range c.nodes {
		from, to := i*slotCount/len(c.nodes), (i+1)*slotCount/len(c.nodes)-1
		// A node takes an epoch only while it knows no other node.
		if err := node.run(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
			return fmt.Errorf("set the epoch of node %d: %w", i, err)
		}
		if err := node.run(ctx, "CLUSTER", "ADDSLOTSRANGE", from, to); err != nil {
			return fmt.Errorf("give slots %d-%d to node %d: %w", from, to, i, err)
		}
	}
	for i, node := range c.nodes {
		for j := i + 1; j < len(c.nodes); j++ {
			if err := node.run(ctx, "CLUSTER", "MEET", "127.0.0.1", c.nodes[j].port, c.buses[j]); err != nil {
				return fmt.Errorf("introduce node %d to node %d: %w", j, i, err)
			}
		}
	}
	return nil
}

// complete returns nil when every node knows all others and serves all slots.
func (c *Cluster) complete(ctx context.Context) error {
	known := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(c.nodes)+c.replicas)
	size := fmt.Sprintf("cluster_size:%d\r\n", len(c.nodes))
	for _, node := range c.nodes {
		err := node.withClient(ctx, func(ctx context.Context, rdb *redis.Client) error {
			info, err := rdb.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			for _, want := range []string{"cluster_state:ok\r\n", known, size} {
				if !strings.Contains(info, want) {
					return fmt.Errorf("%w: node %s", errState, node.Addr())
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// withClient runs do with a client that lives no longer than the call.
func (s *Server) withClient(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyBudget)
	defer cancel()
	rdb := s.newClient()
	defer func() { _ = rdb.Close() }()
	return do(ctx, rdb)
}

// run sends one command whose reply does not matter.
func (s *Server) run(ctx context.Context, args ...any) error {
	return s.withClient(ctx, func(ctx context.Context, rdb *redis.Client) error {
		return rdb.Do(ctx, args...).Err()
	})
}
