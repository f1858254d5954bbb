// Package history keeps the decisions that a person chose to keep, in one SQLite file
// that only this user can read. It bounds itself by size and age, survives a kill at
// any moment, and forgets for good: deleted text is overwritten.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// Entry is one decision.
type Entry struct {
	ID       int64 // given by Add, growing
	At       time.Time
	Source   string // "app", "endpoint", …
	Client   string // the program that asked; "" for the person
	Model    string
	Status   int // of the answer, as over HTTP
	Took     time.Duration
	Tokens   int
	Request  []byte // JSON
	Response []byte // JSON; nil if there was no answer
}

// size is what an entry counts against Limits.Bytes: its texts and a little for the rest.
func (e *Entry) size() int64 {
	return int64(len(e.Request)+len(e.Response)+len(e.Source)+len(e.Client)+len(e.Model)) + 64
}

// Limits bound a history. A zero field means no bound.
type Limits struct {
	Bytes int64
	Age   time.Duration
}

// DefaultLimits are what a person gets who chooses nothing: 64 MiB and 90 days.
func DefaultLimits() Limits { return Limits{Bytes: 64 << 20, Age: 90 * 24 * time.Hour} }

// ErrTooLarge is returned for an entry that is larger than the whole history may be.
var ErrTooLarge = errors.New("the entry is larger than the history may be")

// ErrGone is returned for an entry that is not there, or not any more.
var ErrGone = errors.New("there is no such entry")

// Store is an open history. It is safe for concurrent use, also by other processes
// that open the same file.
type Store struct {
	db    *sql.DB
	bound Limits
	now   func() time.Time
}

// Open opens the history in a file, and makes it if there is none. A file that is
// damaged is put aside under the name in *Damaged, and a new one is begun: then both
// a Store and the error are returned.
func Open(path string, bound Limits) (*Store, error) {
	s, err := open(path, bound)
	if !isDamaged(err) {
		return s, err
	}
	aside := fmt.Sprintf("%s.damaged-%d", path, time.Now().Unix())
	if err := os.Rename(path, aside); err != nil {
		return nil, fmt.Errorf("put the damaged history aside: %w", err)
	}
	for _, tail := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + tail); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("put the damaged history aside: %w", err)
		}
	}
	if s, err = open(path, bound); err != nil {
		return nil, err
	}
	return s, &Damaged{Aside: aside}
}

// Damaged says that the history could not be read and where it is now.
type Damaged struct{ Aside string }

func (e *Damaged) Error() string {
	return "the history was damaged and is kept as " + filepath.Base(e.Aside) + "; a new one was begun"
}

// isDamaged recognises SQLite's words for a file that is broken or no database.
func isDamaged(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "not a database") ||
		errors.Is(err, errCheck))
}

var errCheck = errors.New("the check of the file failed")

// version is the layout of the table. A later program may raise it.
const version = 1

const layout = `
CREATE TABLE entries (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	at       INTEGER NOT NULL,
	source   TEXT NOT NULL,
	client   TEXT NOT NULL,
	model    TEXT NOT NULL,
	status   INTEGER NOT NULL,
	took     INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	size     INTEGER NOT NULL,
	request  BLOB NOT NULL,
	response BLOB
);
CREATE INDEX entries_at ON entries (at);
PRAGMA user_version = 1;`

// open opens path without any repair. In WAL mode a killed process loses no entry
// that Add has returned for; a power cut may take the last ones.
func open(path string, bound Limits) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would make it readable for others
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	pragmas := url.Values{"_pragma": {
		"busy_timeout(5000)", "auto_vacuum(incremental)", "journal_mode(wal)", "synchronous(normal)", "secure_delete(on)",
	}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: pragmas.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	db.SetMaxOpenConns(1) // one writer; readers are as quick
	s := &Store{db: db, bound: bound, now: time.Now}
	if err := s.prepare(); err != nil {
		db.Close()
		return nil, fmt.Errorf("open the history: %w", err)
	}
	return s, nil
}

// prepare checks the file and makes the table in a new one.
func (s *Store) prepare() error {
	var verdict string
	if err := s.db.QueryRow("PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errCheck, verdict)
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing to undo once it is committed
	var found int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&found); err != nil {
		return err
	}
	switch {
	case found > version:
		return fmt.Errorf("it was written by a later Clefbar (layout %d, this one knows %d)", found, version)
	case found == 0:
		if _, err := tx.Exec(layout); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Add keeps an entry and returns its ID. Old entries make room for it.
func (s *Store) Add(ctx context.Context, e Entry) (int64, error) {
	size := e.size()
	if s.bound.Bytes > 0 && size > s.bound.Bytes {
		return 0, ErrTooLarge
	}
	if e.Request == nil {
		e.Request = []byte{}
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("keep a decision: %w", err)
	}
	defer tx.Rollback() // nothing to undo once it is committed
	r, err := tx.ExecContext(ctx, `INSERT INTO entries (at, source, client, model, status, took, tokens, size, request, response)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.At.UnixMilli(), e.Source, e.Client, e.Model, e.Status, e.Took.Microseconds(), e.Tokens, size, e.Request, e.Response)
	if err != nil {
		return 0, fmt.Errorf("keep a decision: %w", err)
	}
	id, err := r.LastInsertId()
	if err != nil {
		return 0, fmt.Errorf("keep a decision: %w", err)
	}
	if err := s.trim(ctx, tx); err != nil {
		return 0, fmt.Errorf("keep a decision: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("keep a decision: %w", err)
	}
	return id, nil
}

// trim deletes what is too old, then the oldest until the rest is small enough.
func (s *Store) trim(ctx context.Context, tx *sql.Tx) error {
	if s.bound.Age > 0 {
		if _, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE at < ?", s.now().Add(-s.bound.Age).UnixMilli()); err != nil {
			return err
		}
	}
	if s.bound.Bytes > 0 {
		if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE id IN (
			SELECT id FROM (SELECT id, SUM(size) OVER (ORDER BY id DESC) AS total FROM entries) WHERE total > ?)`, s.bound.Bytes); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "PRAGMA incremental_vacuum(64)")
	return err
}

// Trim applies the limits now, without a new entry.
func (s *Store) Trim(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("trim the history: %w", err)
	}
	defer tx.Rollback() // nothing to undo once it is committed
	if err := errors.Join(s.trim(ctx, tx), tx.Commit()); err != nil {
		return fmt.Errorf("trim the history: %w", err)
	}
	return nil
}
