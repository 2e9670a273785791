package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// agree shows the plan of a change and returns nil when the operator wants it: with --yes,
// or by typing name. It refuses what the plan says would be refused.
func (s *session) agree(ctx context.Context, c consent, plan *protocol.Plan, t task, name string) error {
	page := s.notes() // beside the answer when that is for a program
	if !s.forPrograms() {
		page = s.page()
	}
	printPlan(page, plan, t)
	if err := s.refusedBy(plan, t); err != nil {
		return err
	}
	return s.confirm(ctx, c.yes, name)
}

// confirm returns nil with yes, or when the person at the terminal types name.
func (s *session) confirm(ctx context.Context, yes bool, name string) error {
	if yes {
		return nil
	}
	if !s.InTerminal {
		return usage("nothing was changed: this needs --yes, as there is no terminal to ask at")
	}
	if _, err := fmt.Fprintf(s.Err, "Type %s to go on: ", show.Text(name)); err != nil {
		return fmt.Errorf("ask for confirmation: %w", err)
	}
	typed := make(chan string, 1)
	go func() { // a read of a terminal cannot be interrupted
		line, _ := bufio.NewReader(s.In).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == name {
			return nil
		}
		return ended(exitFailed, "nothing was changed, as that is not %s", name)
	case <-ctx.Done():
		s.notes().Blank() // the cursor stands behind the question
		return ended(exitFailed, "interrupted; nothing was changed")
	}
}
