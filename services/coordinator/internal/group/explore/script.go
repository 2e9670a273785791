package explore

import "github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"

// Script writes what happens.
type Script struct{}

func (s *Script) cached(*World, *view, []message)                     {}
func (s *Script) decided(*World, *pending, group.Input, group.Output) {}
func (s *Script) failedOver(*World)                                   {}
func (s *Script) jumped(*World)                                       {}
func (s *Script) line(string, ...any)                                 {}
func (s *Script) unsayable(string)                                    {}

func newScript(*World) *Script { return &Script{} }

func (s *Script) text() string { return "" }
