-- The audit of all gateways that share this database: one chain of records that are only
-- added to, and its head beside it.

-- +goose Up

-- A record is one line of printable ASCII, the form over which its hash goes. All that is
-- looked for in it is computed from that line, as it stands there (text escaped as in JSON),
-- so that none of it can be changed without the record. Keys are cut to what an index takes.
--
-- The entry is the order in which records came; the sequence is what a record says itself,
-- and a forged one may say what it likes without being in the way of the others.
CREATE TABLE rsc_audit_record (
	entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	record text COLLATE "C" NOT NULL,
	sequence bigint GENERATED ALWAYS AS (substring(record from '^\{"sequence":([0-9]{1,18}),')::bigint) STORED,
	hash text COLLATE "C" GENERATED ALWAYS AS (substring(record from '"hash":"([0-9a-f]{64})"')) STORED,
	at text COLLATE "C" GENERATED ALWAYS AS (substring(record from '"time":"([-0-9T:.Z]{24})"')) STORED,
	stream_prefix text COLLATE "C" GENERATED ALWAYS AS
		(left(substring(record from '"streamPrefix":"((?:[^"\\]|\\.)*)"'), 600)) STORED,
	consumer_group text COLLATE "C" GENERATED ALWAYS AS
		(left(substring(record from '"consumerGroup":"((?:[^"\\]|\\.)*)"'), 600)) STORED,
	principal text COLLATE "C" GENERATED ALWAYS AS
		(left(substring(record from '"principal":"((?:[^"\\]|\\.)*)"'), 600)) STORED
);
CREATE INDEX rsc_audit_record_sequence ON rsc_audit_record (sequence);
CREATE INDEX rsc_audit_record_at ON rsc_audit_record (at);
CREATE INDEX rsc_audit_record_stream ON rsc_audit_record (stream_prefix, entry);
CREATE INDEX rsc_audit_record_group ON rsc_audit_record (consumer_group, entry);
CREATE INDEX rsc_audit_record_principal ON rsc_audit_record (principal, entry);

-- The newest record, apart from the records: so a missing end is noticed. One row, which
-- each append locks.
CREATE TABLE rsc_audit_head (
	singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
	sequence bigint NOT NULL,
	hash text COLLATE "C" NOT NULL
);
INSERT INTO rsc_audit_head (sequence, hash) VALUES (0, '');

-- +goose StatementBegin
CREATE FUNCTION rsc_audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'records of the audit are not changed and not removed: % of % is refused', TG_OP, TG_TABLE_NAME
		USING ERRCODE = 'insufficient_privilege',
			HINT = 'To remove old records, disable the trigger rsc_audit_keep for one transaction; see docs/audit-postgres.md.';
END $$;
-- +goose StatementEnd

-- Once for a statement, as TRUNCATE has no rows; always, as a session that says it replicates
-- is none that may change records either.
CREATE TRIGGER rsc_audit_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON rsc_audit_record
	FOR EACH STATEMENT EXECUTE FUNCTION rsc_audit_keep();
ALTER TABLE rsc_audit_record ENABLE ALWAYS TRIGGER rsc_audit_keep;

-- rsc_audit_append writes a record behind the head for which its hash was made, or nothing. It
-- answers whether the record is there, and the head that there is then. A statement that is
-- sent again, because its answer did not come, finds its record and writes no second one.
-- +goose StatementBegin
CREATE FUNCTION rsc_audit_append(p_before bigint, p_before_hash text, p_next bigint, p_next_hash text, p_record text,
	OUT written boolean, OUT head_sequence bigint, OUT head_hash text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	SELECT h.sequence, h.hash INTO head_sequence, head_hash FROM rsc_audit_head h FOR UPDATE;
	IF NOT FOUND THEN
		-- A head that was lost is that of the newest record, which says itself what it is.
		INSERT INTO rsc_audit_head (sequence, hash)
			SELECT coalesce(r.sequence, 0), coalesce(r.hash, '') FROM (SELECT) one
				LEFT JOIN (SELECT * FROM rsc_audit_record ORDER BY entry DESC LIMIT 1) r ON true
			ON CONFLICT DO NOTHING;
		SELECT h.sequence, h.hash INTO STRICT head_sequence, head_hash FROM rsc_audit_head h FOR UPDATE;
	END IF;
	written := head_sequence = p_before AND head_hash = p_before_hash;
	IF NOT written THEN
		written := EXISTS (SELECT FROM rsc_audit_record r WHERE r.sequence = p_next AND r.record = p_record);
		RETURN;
	END IF;
	INSERT INTO rsc_audit_record (record) VALUES (p_record);
	UPDATE rsc_audit_head SET sequence = p_next, hash = p_next_hash;
	head_sequence := p_next;
	head_hash := p_next_hash;
END $$;
-- +goose StatementEnd
