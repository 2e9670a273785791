package redisproc

import "testing"

// Follow makes the server a replica of master and returns when it has the master's data.
// What the server held itself is gone. It is not for the nodes of a Cluster.
func (s *Server) Follow(t testing.TB, master *Server) {
	t.Helper()
	// By default a master waits five seconds for more replicas.
	if err := master.run(t.Context(), "CONFIG", "SET", "repl-diskless-sync-delay", "0"); err != nil {
		t.Fatalf("prepare %s for a replica: %v", master.Addr(), err)
	}
	if err := s.run(t.Context(), "REPLICAOF", "127.0.0.1", master.port); err != nil {
		t.Fatalf("make %s a replica of %s: %v", s.Addr(), master.Addr(), err)
	}
	if err := poll(s.synced); err != nil {
		t.Fatalf("wait for the replica of %s: %v", master.Addr(), err)
	}
}

// Promote makes a replica a master of its own. It has what it had received until then,
// and takes nothing more from its former master, which goes on without it.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if err := s.run(t.Context(), "REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatalf("promote %s: %v", s.Addr(), err)
	}
}
