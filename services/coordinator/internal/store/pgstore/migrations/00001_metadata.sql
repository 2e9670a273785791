-- The coordinator's metadata. A key is (stream_prefix, consumer_group); the empty group is
-- the stream's own record. Times are milliseconds since 1970 by this server's clock. What is
-- opaque to the store, tokens and names that clients choose included, is bytea.
--
-- A service calls one function for each write. A function locks the record's row first and
-- reads everything else afterwards, in statements of their own: in READ COMMITTED each of
-- those sees what was committed while it waited for the lock. In one statement it would not:
-- only the locked row itself would be read anew, and the liveness beside it would be that of
-- before the wait.

-- +goose Up
CREATE TABLE rsc_record (
	stream_prefix text COLLATE "C" NOT NULL,
	consumer_group text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	token bytea NOT NULL,
	schema_version integer NOT NULL,
	aggregate bytea NOT NULL,
	updated_at bigint NOT NULL,
	served_at bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (stream_prefix, consumer_group)
) WITH (fillfactor = 70);

-- Rows are written with every heartbeat, and no index has what changes: with room in the
-- page an update stays in it (HOT), and pages clean themselves.
CREATE TABLE rsc_liveness (
	stream_prefix text COLLATE "C" NOT NULL,
	consumer_group text COLLATE "C" NOT NULL,
	member_id text COLLATE "C" NOT NULL,
	deadline bigint NOT NULL DEFAULT 0 CHECK (deadline >= 0),
	heard_at bigint NOT NULL DEFAULT 0,
	incarnation bytea NOT NULL DEFAULT '',
	sequence bigint NOT NULL DEFAULT 0 CHECK (sequence >= 0),
	request_id bytea NOT NULL DEFAULT '',
	sync_version bigint NOT NULL DEFAULT 0,
	detail bytea NOT NULL DEFAULT '',
	successor bytea NOT NULL DEFAULT '',
	successor_at bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (stream_prefix, consumer_group, member_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- The flight recorder: about the newest 1000 events of a record, which outlive it.
CREATE TABLE rsc_event (
	stream_prefix text COLLATE "C" NOT NULL,
	consumer_group text COLLATE "C" NOT NULL,
	at bigint NOT NULL CHECK (at >= 0),
	sequence bigint NOT NULL CHECK (sequence >= 0),
	revision bigint NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (stream_prefix, consumer_group, at, sequence)
);

-- Histories of deleted records, with the time from which they may go.
CREATE TABLE rsc_ended (
	stream_prefix text COLLATE "C" NOT NULL,
	consumer_group text COLLATE "C" NOT NULL,
	until bigint NOT NULL,
	PRIMARY KEY (stream_prefix, consumer_group)
);

CREATE TABLE rsc_lease (
	stream_prefix text COLLATE "C" NOT NULL,
	consumer_group text COLLATE "C" NOT NULL,
	token bytea NOT NULL,
	until bigint NOT NULL,
	PRIMARY KEY (stream_prefix, consumer_group)
);

CREATE TABLE rsc_coordinator (
	id text COLLATE "C" PRIMARY KEY,
	reads integer NOT NULL,
	writes integer NOT NULL,
	until bigint NOT NULL
);

-- +goose StatementBegin
CREATE FUNCTION rsc_clock() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;
-- +goose StatementEnd

-- rsc_identity names this server's history (protocol M1): the cluster, the timeline, which
-- a promotion and a recovery from a backup change, the start of the server, before which the
-- data directory may have been exchanged, and the file of the records, which loading a dump
-- changes. A server that takes no writes has no answer: what a standby holds may be old.
-- +goose StatementBegin
CREATE FUNCTION rsc_identity() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_cluster text := '-';
BEGIN
	IF current_setting('transaction_read_only')::boolean THEN
		RAISE EXCEPTION 'the metadata was asked for on a server that takes no writes'
			USING ERRCODE = 'read_only_sql_transaction';
	END IF;
	IF has_function_privilege('pg_control_system()', 'EXECUTE') THEN
		SELECT system_identifier::text INTO v_cluster FROM pg_control_system();
	END IF;
	RETURN concat_ws('/', v_cluster, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8),
		floor(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
		pg_relation_filenode('rsc_record'));
END $$;
-- +goose StatementEnd

-- rsc_lock locks the record until the end of the transaction and reads what guards it. The
-- word is ok, missing, or corrupt with the field in what.
-- +goose StatementBegin
CREATE FUNCTION rsc_lock(p_stream text, p_group text,
	OUT word text, OUT revision bigint, OUT token bytea, OUT served_at bigint, OUT what text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_schema integer;
BEGIN
	IF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE EXCEPTION 'the functions of the metadata work in READ COMMITTED only, not in %',
			upper(current_setting('transaction_isolation'));
	END IF;
	SELECT r.revision, r.token, r.schema_version, r.served_at INTO revision, token, v_schema, served_at
		FROM rsc_record r WHERE r.stream_prefix = p_stream AND r.consumer_group = p_group
		FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		word := 'missing';
		RETURN;
	END IF;
	what := CASE WHEN revision < 1 THEN 'revision' WHEN token = '' THEN 'token'
		WHEN v_schema < 0 THEN 'schemaVersion' WHEN served_at < 0 THEN 'servedAt' END;
	word := CASE WHEN what IS NULL THEN 'ok' ELSE 'corrupt' END;
END $$;
-- +goose StatementEnd

-- rsc_hear applies beats in order, then newcomers (protocol E5, J4). The record is locked.
-- A beat repeats when its incarnation is the stored one and its sequence, if it has one, is
-- not above the stored one, or its request id is the stored one.
-- +goose StatementBegin
CREATE FUNCTION rsc_hear(p_stream text, p_group text, p_now bigint, p_beats jsonb, p_newcomers jsonb,
	OUT deadlines bigint[], OUT applied boolean[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	b record;
	v_deadline bigint;
	v_applied boolean;
BEGIN
	deadlines := '{}';
	applied := '{}';
	FOR b IN SELECT * FROM jsonb_to_recordset(p_beats) AS x(member text, incarnation text, sequence bigint,
		request text, sync bigint, detail text, lease bigint, forced boolean)
	LOOP
		INSERT INTO rsc_liveness AS l (stream_prefix, consumer_group, member_id, deadline, heard_at,
			incarnation, sequence, request_id, sync_version, detail)
		VALUES (p_stream, p_group, b.member, p_now + b.lease, p_now, decode(b.incarnation, 'base64'), b.sequence,
			decode(b.request, 'base64'), b.sync, decode(b.detail, 'base64'))
		ON CONFLICT (stream_prefix, consumer_group, member_id) DO UPDATE SET
			deadline = excluded.deadline, heard_at = excluded.heard_at, incarnation = excluded.incarnation,
			sequence = excluded.sequence, request_id = excluded.request_id,
			sync_version = excluded.sync_version, detail = excluded.detail
		WHERE b.forced OR l.deadline = 0 OR l.incarnation <> excluded.incarnation
			OR CASE WHEN excluded.sequence > 0 THEN excluded.sequence > l.sequence
				ELSE excluded.request_id = '' OR excluded.request_id <> l.request_id END
		RETURNING l.deadline INTO v_deadline;
		v_applied := FOUND;
		IF NOT v_applied THEN
			SELECT l.deadline INTO STRICT v_deadline FROM rsc_liveness l
				WHERE l.stream_prefix = p_stream AND l.consumer_group = p_group AND l.member_id = b.member;
		END IF;
		deadlines := deadlines || v_deadline;
		applied := applied || v_applied;
	END LOOP;
	FOR b IN SELECT * FROM jsonb_to_recordset(p_newcomers) AS x(member text, incarnation text)
	LOOP
		INSERT INTO rsc_liveness AS l (stream_prefix, consumer_group, member_id, successor, successor_at)
		VALUES (p_stream, p_group, b.member, decode(b.incarnation, 'base64'), p_now)
		ON CONFLICT (stream_prefix, consumer_group, member_id) DO UPDATE SET
			successor = excluded.successor, successor_at = excluded.successor_at;
	END LOOP;
END $$;
-- +goose StatementEnd

-- rsc_remember appends an event to the record's history, never before the last one, and cuts
-- the history about every 50th revision. The record is locked.
-- +goose StatementBegin
CREATE FUNCTION rsc_remember(p_stream text, p_group text, p_revision bigint, p_event bytea, p_keep integer, p_now bigint)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_at bigint;
	v_sequence bigint;
BEGIN
	IF coalesce(p_event, '') = '' THEN
		RETURN;
	END IF;
	SELECT e.at, e.sequence INTO v_at, v_sequence FROM rsc_event e
		WHERE e.stream_prefix = p_stream AND e.consumer_group = p_group
		ORDER BY e.at DESC, e.sequence DESC LIMIT 1;
	IF v_at >= p_now THEN
		v_sequence := v_sequence + 1;
	ELSE
		v_at := greatest(p_now, 0);
		v_sequence := 0;
	END IF;
	INSERT INTO rsc_event VALUES (p_stream, p_group, v_at, v_sequence, p_revision, p_event);
	IF p_revision % 50 = 1 THEN
		DELETE FROM rsc_event e WHERE e.stream_prefix = p_stream AND e.consumer_group = p_group
			AND (e.at, e.sequence) <= (SELECT o.at, o.sequence FROM rsc_event o
				WHERE o.stream_prefix = p_stream AND o.consumer_group = p_group
				ORDER BY o.at DESC, o.sequence DESC OFFSET p_keep LIMIT 1);
	END IF;
END $$;
-- +goose StatementEnd

-- rsc_touch writes liveness only. The word is ok, missing, corrupt, differs with the stored
-- revision in what, or conflict with the guard in what.
-- +goose StatementBegin
CREATE FUNCTION rsc_touch(p_stream text, p_group text, p_revision bigint, p_token bytea, p_identity text,
	p_served_every bigint, p_beats jsonb, p_newcomers jsonb,
	OUT word text, OUT clock bigint, OUT deadlines bigint[], OUT applied boolean[], OUT what text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r record;
BEGIN
	SELECT * INTO r FROM rsc_lock(p_stream, p_group);
	word := r.word;
	what := r.what;
	IF word <> 'ok' THEN
		RETURN;
	END IF;
	IF r.revision <> p_revision OR r.token <> p_token THEN
		word := 'differs';
		what := r.revision::text;
		RETURN;
	END IF;
	IF p_identity NOT IN ('', 'none') AND p_identity <> rsc_identity() THEN
		word := 'conflict';
		what := 'store identity';
		RETURN;
	END IF;
	clock := rsc_clock();
	-- A state of some time ago renews only leases that still run (protocol H3, M1).
	IF p_identity = '' THEN
		SELECT 'lease of ' || b.member INTO what
			FROM jsonb_to_recordset(p_beats) AS b(member text, forced boolean)
			LEFT JOIN rsc_liveness l
				ON l.stream_prefix = p_stream AND l.consumer_group = p_group AND l.member_id = b.member
			WHERE NOT b.forced AND coalesce(l.deadline, 0) <= clock LIMIT 1;
		IF FOUND THEN
			word := 'conflict';
			RETURN;
		END IF;
	END IF;
	SELECT h.deadlines, h.applied INTO deadlines, applied FROM rsc_hear(p_stream, p_group, clock, p_beats, p_newcomers) h;
	-- A served_at of the future belongs to a clock that has gone back.
	IF clock < r.served_at OR clock >= r.served_at + p_served_every THEN
		UPDATE rsc_record SET served_at = clock WHERE stream_prefix = p_stream AND consumer_group = p_group;
	END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION rsc_create(p_stream text, p_group text, p_token bytea, p_schema integer, p_aggregate bytea,
	p_event bytea, p_keep integer, OUT word text, OUT clock bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r record;
BEGIN
	LOOP
		-- Who makes or deletes the same record is waited for.
		INSERT INTO rsc_record (stream_prefix, consumer_group, revision, token, schema_version, aggregate, updated_at)
		VALUES (p_stream, p_group, 1, p_token, p_schema, p_aggregate, rsc_clock())
		ON CONFLICT DO NOTHING;
		IF FOUND THEN
			EXIT;
		END IF;
		SELECT * INTO r FROM rsc_lock(p_stream, p_group);
		IF r.word <> 'missing' THEN
			word := CASE WHEN r.word = 'ok' AND r.revision = 1 AND r.token = p_token THEN 'ok' ELSE 'exists' END;
			clock := rsc_clock();
			RETURN;
		END IF;
	END LOOP;
	word := 'ok';
	clock := rsc_clock();
	DELETE FROM rsc_ended WHERE stream_prefix = p_stream AND consumer_group = p_group;
	PERFORM rsc_remember(p_stream, p_group, 1, p_event, p_keep, clock);
END $$;
-- +goose StatementEnd

-- rsc_commit replaces a record's structure; its words are those of rsc_touch.
-- +goose StatementBegin
CREATE FUNCTION rsc_commit(p_stream text, p_group text, p_revision bigint, p_token bytea, p_next bytea,
	p_schema integer, p_aggregate bytea, p_identity text, p_lease bytea, p_unmoved jsonb, p_forget text[],
	p_beats jsonb, p_newcomers jsonb, p_event bytea, p_keep integer,
	OUT word text, OUT clock bigint, OUT deadlines bigint[], OUT applied boolean[], OUT what text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r record;
BEGIN
	SELECT * INTO r FROM rsc_lock(p_stream, p_group);
	word := r.word;
	what := r.what;
	IF word <> 'ok' THEN
		RETURN;
	END IF;
	clock := rsc_clock();
	IF r.revision = p_revision + 1 AND r.token = p_next THEN
		-- The same commit again: its answer was lost.
		SELECT coalesce(array_agg(coalesce(l.deadline, 0) ORDER BY b.place), '{}'),
			coalesce(array_agg(coalesce(l.incarnation = decode(b.incarnation, 'base64') AND l.sequence = b.sequence
				AND l.request_id = decode(b.request, 'base64'), false) ORDER BY b.place), '{}')
			INTO deadlines, applied
			FROM ROWS FROM (jsonb_to_recordset(p_beats) AS (member text, incarnation text, sequence bigint, request text))
				WITH ORDINALITY AS b(member, incarnation, sequence, request, place)
			LEFT JOIN rsc_liveness l
				ON l.stream_prefix = p_stream AND l.consumer_group = p_group AND l.member_id = b.member;
		RETURN;
	END IF;
	IF r.revision <> p_revision OR r.token <> p_token THEN
		word := 'differs';
		what := r.revision::text;
		RETURN;
	END IF;
	what := rsc_moved(p_stream, p_group, clock, p_identity, p_lease, p_unmoved);
	IF what IS NOT NULL THEN
		word := 'conflict';
		RETURN;
	END IF;
	DELETE FROM rsc_liveness WHERE stream_prefix = p_stream AND consumer_group = p_group AND member_id = ANY (p_forget);
	SELECT h.deadlines, h.applied INTO deadlines, applied FROM rsc_hear(p_stream, p_group, clock, p_beats, p_newcomers) h;
	UPDATE rsc_record SET revision = p_revision + 1, token = p_next, schema_version = p_schema,
			aggregate = p_aggregate, updated_at = clock, served_at = clock
		WHERE stream_prefix = p_stream AND consumer_group = p_group;
	PERFORM rsc_remember(p_stream, p_group, p_revision + 1, p_event, p_keep, clock);
END $$;
-- +goose StatementEnd

-- rsc_moved returns which premise of a commit does not hold any more, null when all do
-- (protocol T3). The record is locked, and with the premise the lease too: who takes it over
-- waits for the end of the commit.
-- +goose StatementBegin
CREATE FUNCTION rsc_moved(p_stream text, p_group text, p_now bigint, p_identity text, p_lease bytea, p_unmoved jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_member text;
BEGIN
	IF p_identity NOT IN ('', 'none') AND p_identity <> rsc_identity() THEN
		RETURN 'store identity';
	END IF;
	IF p_lease <> '' THEN
		PERFORM 1 FROM rsc_lease l WHERE l.stream_prefix = p_stream AND l.consumer_group = p_group
			AND l.token = p_lease AND l.until > p_now FOR SHARE;
		IF NOT FOUND THEN
			RETURN 'lease';
		END IF;
	END IF;
	SELECT u.member INTO v_member FROM jsonb_to_recordset(p_unmoved) AS u(member text, deadline bigint, sequence bigint)
		LEFT JOIN rsc_liveness l
			ON l.stream_prefix = p_stream AND l.consumer_group = p_group AND l.member_id = u.member
		WHERE coalesce(l.deadline, 0) <> u.deadline OR coalesce(l.sequence, 0) <> u.sequence LIMIT 1;
	RETURN 'liveness of ' || v_member;
END $$;
-- +goose StatementEnd

-- rsc_delete removes a record of that version, or, with revision 0 and no token, one that
-- cannot be read (protocol M6). It takes histories along whose time is over.
-- +goose StatementBegin
CREATE FUNCTION rsc_delete(p_stream text, p_group text, p_revision bigint, p_token bytea, p_event bytea,
	p_keep integer, p_retention bigint, OUT word text, OUT clock bigint, OUT what text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	r record;
	h record;
BEGIN
	SELECT * INTO r FROM rsc_lock(p_stream, p_group);
	word := r.word;
	what := r.what;
	IF word = 'missing' OR word = 'corrupt' AND NOT (p_revision = 0 AND p_token = '') THEN
		RETURN;
	END IF;
	IF word = 'ok' AND (r.revision <> p_revision OR r.token <> p_token) THEN
		word := 'differs';
		what := r.revision::text;
		RETURN;
	END IF;
	word := 'ok';
	clock := rsc_clock();
	DELETE FROM rsc_liveness WHERE stream_prefix = p_stream AND consumer_group = p_group;
	DELETE FROM rsc_record WHERE stream_prefix = p_stream AND consumer_group = p_group;
	PERFORM rsc_remember(p_stream, p_group, p_revision, p_event, p_keep, clock);
	INSERT INTO rsc_ended VALUES (p_stream, p_group, clock + p_retention)
		ON CONFLICT (stream_prefix, consumer_group) DO UPDATE SET until = excluded.until;
	FOR h IN SELECT * FROM rsc_ended WHERE until <= clock FOR UPDATE SKIP LOCKED
	LOOP
		DELETE FROM rsc_event WHERE stream_prefix = h.stream_prefix AND consumer_group = h.consumer_group;
		DELETE FROM rsc_ended WHERE stream_prefix = h.stream_prefix AND consumer_group = h.consumer_group;
	END LOOP;
END $$;
-- +goose StatementEnd

-- rsc_take takes a lease that is free, has ended, or has that token already.
-- +goose StatementBegin
CREATE FUNCTION rsc_take(p_stream text, p_group text, p_token bytea, p_ttl bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_token bytea;
	v_until bigint;
	v_now bigint;
BEGIN
	INSERT INTO rsc_lease VALUES (p_stream, p_group, p_token, rsc_clock() + p_ttl) ON CONFLICT DO NOTHING;
	IF FOUND THEN
		RETURN true;
	END IF;
	SELECT l.token, l.until INTO v_token, v_until FROM rsc_lease l
		WHERE l.stream_prefix = p_stream AND l.consumer_group = p_group FOR UPDATE;
	v_now := rsc_clock();
	-- A lease that was released meanwhile is taken by the next try.
	IF NOT FOUND OR v_until > v_now AND v_token <> p_token THEN
		RETURN false;
	END IF;
	UPDATE rsc_lease SET token = p_token, until = v_now + p_ttl WHERE stream_prefix = p_stream AND consumer_group = p_group;
	RETURN true;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION rsc_extend(p_stream text, p_group text, p_token bytea, p_ttl bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_until bigint;
	v_now bigint;
BEGIN
	SELECT l.until INTO v_until FROM rsc_lease l
		WHERE l.stream_prefix = p_stream AND l.consumer_group = p_group AND l.token = p_token FOR UPDATE;
	v_now := rsc_clock();
	IF NOT FOUND OR v_until <= v_now THEN
		RETURN false;
	END IF;
	UPDATE rsc_lease SET until = v_now + p_ttl WHERE stream_prefix = p_stream AND consumer_group = p_group;
	RETURN true;
END $$;
-- +goose StatementEnd

-- rsc_announce keeps a coordinator known and returns all that are. They take turns, so that
-- of two who announce themselves at once one knows the other.
-- +goose StatementBegin
CREATE FUNCTION rsc_announce(p_id text, p_reads integer, p_writes integer, p_ttl bigint)
RETURNS TABLE (id text, reads integer, writes integer) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	v_now bigint;
BEGIN
	LOCK TABLE rsc_coordinator IN SHARE ROW EXCLUSIVE MODE;
	v_now := rsc_clock();
	DELETE FROM rsc_coordinator c WHERE c.until <= v_now;
	INSERT INTO rsc_coordinator VALUES (p_id, p_reads, p_writes, v_now + p_ttl)
		ON CONFLICT ON CONSTRAINT rsc_coordinator_pkey DO UPDATE SET
			reads = excluded.reads, writes = excluded.writes, until = excluded.until;
	RETURN QUERY SELECT c.id, c.reads, c.writes FROM rsc_coordinator c;
END $$;
-- +goose StatementEnd
