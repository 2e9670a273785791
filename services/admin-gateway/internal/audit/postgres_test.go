package audit

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

// unguarded lets a superuser change what the trigger keeps.
const unguarded = "ALTER TABLE rsc_audit_record DISABLE TRIGGER rsc_audit_keep"

// inPostgres opens the sink in a database, which ends with the test.
func inPostgres(t *testing.T, where string) *Postgres {
	t.Helper()
	sink, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(where)}, nil)
	require.NoError(t, err)
	t.Cleanup(sink.Close)
	return sink
}

// connected returns a session that ends with the test.
func connected(t *testing.T, where string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), where)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

func TestWhatIsDoneToTheTableByHandIsFound(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	for name, one := range map[string]struct {
		do   []string
		want []audit.Kind
	}{
		"nothing":               {nil, nil},
		"a record is removed":   {[]string{"DELETE FROM rsc_audit_record WHERE sequence = 2"}, []audit.Kind{audit.Missing}},
		"the newest is removed": {[]string{"DELETE FROM rsc_audit_record WHERE sequence = 4"}, []audit.Kind{audit.EndMissing}},
		"all are removed":       {[]string{"TRUNCATE rsc_audit_record"}, []audit.Kind{audit.EndMissing}},
		"a record is put at the end": {[]string{
			"WITH moved AS (DELETE FROM rsc_audit_record WHERE sequence = 2 RETURNING record) INSERT INTO rsc_audit_record (record) SELECT record FROM moved",
		}, []audit.Kind{audit.Reordered}},
		"a record is changed": {[]string{
			`UPDATE rsc_audit_record SET record = replace(record, '"principal":"ann"', '"principal":"bob"') WHERE sequence = 3`,
		}, []audit.Kind{audit.Changed}},
		"a record says two things": {[]string{
			`UPDATE rsc_audit_record SET record = replace(record, '"principal":"ann"', '"principal":"bob","principal":"ann"') WHERE sequence = 3`,
		}, []audit.Kind{audit.Changed, audit.Forged}},
		"a record is forged behind the head": {[]string{
			`INSERT INTO rsc_audit_record (record) SELECT replace(record, '{"sequence":4,', '{"sequence":5,') FROM rsc_audit_record WHERE sequence = 4`,
		}, []audit.Kind{audit.Changed, audit.Forged, audit.Forged}},
		"something else is added":         {[]string{`INSERT INTO rsc_audit_record (record) VALUES ('{"what":"ever')`}, []audit.Kind{audit.Reordered, audit.Forged, audit.Changed}},
		"the head is set back":            {[]string{`UPDATE rsc_audit_head SET sequence = 3, hash = (SELECT hash FROM rsc_audit_record WHERE sequence = 3)`}, []audit.Kind{audit.Forged}},
		"the head is another one's":       {[]string{`UPDATE rsc_audit_head SET hash = 'x'`}, []audit.Kind{audit.Forged}},
		"the head is lost, none is known": {[]string{`DELETE FROM rsc_audit_head`}, []audit.Kind{audit.Forged}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := server.Database(t)
			sink := inPostgres(t, where)
			write(t, sink, "1", "2", "3", "4")
			hand := connected(t, server.Admin(where))
			execute(t, hand, unguarded)
			execute(t, hand, one.do...)
			require.Equal(t, one.want, verify(t, sink))
			require.NoError(t, sink.Append(t.Context(), note("later")), "what was done does not stop the audit")
			require.NoError(t, inPostgres(t, where).Append(t.Context(), note("later still")))
		})
	}
}

func TestNobodyChangesOrRemovesARecordByMistake(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink := inPostgres(t, where)
	write(t, sink, "1", "2")
	for _, who := range []string{where, server.Admin(where)} {
		hand := connected(t, who)
		if who != where {
			execute(t, hand, "SET session_replication_role = replica")
		}
		for _, statement := range []string{
			"UPDATE rsc_audit_record SET record = 'x'", "DELETE FROM rsc_audit_record", "TRUNCATE rsc_audit_record",
			"DELETE FROM rsc_audit_record WHERE sequence = 1",
		} {
			_, err := hand.Exec(t.Context(), statement)
			require.ErrorContains(t, err, "records of the audit are not changed", statement)
		}
		for _, statement := range []string{
			"UPDATE rsc_audit_record SET principal = 'x'", "INSERT INTO rsc_audit_record (record, principal) VALUES ('x', 'y')",
		} {
			_, err := hand.Exec(t.Context(), statement)
			require.Error(t, err, "what is searched for cannot differ from the record")
		}
	}
	require.Empty(t, verify(t, sink))
}

func TestAGatewayNeedsNoMoreThanToAppendAndRead(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	write(t, inPostgres(t, where), "1")
	hand := connected(t, server.Admin(where))
	execute(t, hand, "CREATE ROLE gateway LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	limited := "postgres://gateway@" + server.Addr() + "/" + hand.Config().Database + "?sslmode=disable"
	_, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(limited)}, nil)
	require.ErrorContains(t, err, "owner of the audit's tables")

	execute(t, hand,
		"GRANT SELECT ON rsc_audit_schema TO gateway",
		"GRANT SELECT, INSERT ON rsc_audit_record TO gateway",
		"GRANT SELECT, INSERT, UPDATE ON rsc_audit_head TO gateway")
	sink := inPostgres(t, limited)
	state, err := sink.Ready(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.StateOK, state)
	write(t, sink, "2", "3")
	require.Empty(t, verify(t, sink))
	for _, statement := range []string{"DELETE FROM rsc_audit_record", unguarded, "DROP TABLE rsc_audit_record", "DELETE FROM rsc_audit_head"} {
		_, err := connected(t, limited).Exec(t.Context(), statement)
		require.Error(t, err, statement)
	}
	execute(t, hand, "REVOKE INSERT ON rsc_audit_record FROM gateway")
	state, err = sink.Ready(t.Context())
	require.ErrorIs(t, err, errGrants)
	require.Equal(t, postgres.StateNoPerm, state)
	err = sink.Append(t.Context(), note("4"))
	require.ErrorContains(t, err, "permission denied")
	require.ErrorContains(t, err, "NOPERM")
}

func TestADatabaseOfANewerGatewayIsRefused(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	inPostgres(t, where)
	execute(t, connected(t, where), "INSERT INTO rsc_audit_schema (version_id, is_applied) VALUES (99, true)")
	_, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(where)}, nil)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "rsc_audit_schema")
}

func TestAPostgresHeadThatWasLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink := inPostgres(t, where)
	hand := connected(t, where)
	execute(t, hand, "DELETE FROM rsc_audit_head")
	write(t, sink, "1", "2")
	execute(t, hand, "DELETE FROM rsc_audit_head")
	write(t, sink, "3")
	execute(t, hand, "DELETE FROM rsc_audit_head")
	write(t, inPostgres(t, where), "4")
	records, head := all(t, sink, 10)
	require.Len(t, records, 4)
	require.Empty(t, audit.Verify(records, head))
}

// The page, docs/audit-postgres.md, tells operators to remove old records like this.
func TestOldRecordsAreRemovedByTheOwnerAndTheRestIsWhole(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink := inPostgres(t, where)
	for i := range 9 {
		record := note(strconv.Itoa(i))
		record.Time.Time = noon().Add(time.Duration(i) * time.Minute)
		require.NoError(t, sink.Append(t.Context(), record))
	}
	execute(t, connected(t, where), fmt.Sprintf(`
		BEGIN;
		ALTER TABLE rsc_audit_record DISABLE TRIGGER rsc_audit_keep;
		DELETE FROM rsc_audit_record WHERE entry IN (
			SELECT entry FROM rsc_audit_record WHERE at < '%s' ORDER BY entry LIMIT 10000);
		ALTER TABLE rsc_audit_record ENABLE ALWAYS TRIGGER rsc_audit_keep;
		COMMIT`, at(noon().Add(4*time.Minute))))
	write(t, sink, "later")
	records, head := all(t, sink, 3)
	require.Equal(t, []string{"4", "5", "6", "7", "8", "later"}, idsOf(records))
	found := audit.Verify(records, head)
	require.Len(t, found, 1)
	require.Equal(t, audit.Anchor, found[0].Kind)
	_, err := connected(t, where).Exec(t.Context(), "DELETE FROM rsc_audit_record")
	require.ErrorContains(t, err, "not changed")
}

func TestCursorsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	sink := inPostgres(t, postgresproc.Start(t).Database(t))
	a := New(Config{}, sink, sink, clock.Now, nil)
	for _, cursor := range []string{"x", "0", "-1", "%2B1", "1-1", "copies/1/1-1", "1e3", "99999999999999999999", "1%00", "%201"} {
		status, body := ask(t, a, "cursor="+cursor)
		require.Equal(t, 400, status, cursor)
		require.Contains(t, body, string(protocol.CodeInvalidRequest))
	}
	status, _ := ask(t, a, "cursor=9223372036854775807")
	require.Equal(t, 200, status)
}

func TestTwoSuitesInOneDatabaseHaveSchemasOfTheirOwn(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	execute(t, connected(t, where), "CREATE SCHEMA one", "CREATE SCHEMA other")
	one, other := inPostgres(t, where+"&search_path=one"), inPostgres(t, where+"&search_path=other")
	write(t, one, "1", "2")
	write(t, other, "3")
	for _, sink := range []*Postgres{one, other} {
		state, err := sink.Ready(t.Context())
		require.NoError(t, err, state)
		require.Empty(t, verify(t, sink))
	}
	records, _ := all(t, other, 10)
	require.Equal(t, []string{"3"}, idsOf(records))
}

func TestTablesThatWereDroppedAreNamed(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink := inPostgres(t, where)
	write(t, sink, "1")
	execute(t, connected(t, where), "DROP TABLE rsc_audit_record")
	require.ErrorContains(t, sink.Append(t.Context(), note("2")), "NOSCHEMA")
	state, err := sink.Ready(t.Context())
	require.Error(t, err)
	require.Equal(t, postgres.StateNoSchema, state)
}
