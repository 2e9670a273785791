package model

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Migrations are the reshardings of a group's stream, the newest first.
type Migrations struct {
	Stream, Group string
	// Home is the address of the group, Scale that of the page that begins another one.
	Home, Scale string
	Lines       []MigrationLine
	Pager       Pager
}

// MigrationLine is one resharding at a glance.
type MigrationLine struct {
	ID, Address, From, To string
	State, Tone           string
	// By and Reason are empty where they are not known.
	By, Reason       string
	Created, Updated Stamp
}

// migrationsShown is how many one page of the list shows.
const migrationsShown = 100

// MigrationPath returns the address of a resharding's page.
func MigrationPath(root, stream, group, id string) string {
	return GroupPath(root, stream, group, migrationsPath+"/"+pathPart(id))
}

// NewMigrations makes the list.
func NewMigrations(stream, group string, answer protocol.MigrationsResponse, page int, root string) Migrations {
	address := GroupPath(root, stream, group, migrationsPath)
	list := Migrations{
		Stream: stream, Group: group, Home: GroupPath(root, stream, group, ""), Scale: GroupPath(root, stream, group, scalePath),
	}
	lines := make([]MigrationLine, 0, len(answer.Migrations))
	for _, each := range answer.Migrations {
		lines = append(lines, migrationLine(each, MigrationPath(root, stream, group, each.ReshardingID)))
	}
	list.Lines, list.Pager = paged(lines, page, migrationsShown, func(at string) string { return withQuery(address, "at", at) })
	return list
}

func migrationLine(of protocol.Migration, address string) MigrationLine {
	line := MigrationLine{
		ID: of.ReshardingID, Address: address, From: strconv.Itoa(of.FromShardCount), To: strconv.Itoa(of.ToShardCount),
		By: named(of.RequestedBy, ""), Reason: named(of.Reason, ""), Created: stampOf(of.CreatedAt), Updated: stampOf(of.UpdatedAt),
	}
	line.State, line.Tone = migrationWords(of.State)
	return line
}
