package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// snapshots answers with all groups at once, for the monitor (monitoring, Observe): 304
// where nothing has changed since the ETag that `since` or If-None-Match names. Like all
// reads that are no member's it is open to the inside, and the gateway does not pass it on.
func (a *api) snapshots(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	found, err := a.Views.Snapshots(ctx)
	if err != nil {
		return answer{}, err
	}
	found.Groups = each(found.Groups, completeSnapshot)
	var known []string
	if since := strings.Trim(r.URL.Query().Get("since"), `"`); since != "" {
		known = append(known, `"`+since+`"`)
	}
	return tagged(w, r, found, known...)
}

func completeSnapshot(s protocol.GroupSnapshot) protocol.GroupSnapshot {
	s.Group = completeGroup(s.Group)
	s.Members = completeMembers(protocol.MembersResponse{Members: s.Members}).Members
	s.Assignments = completeAssignments(s.Assignments)
	s.Migrations = each(s.Migrations, completeMigration)
	return s
}
