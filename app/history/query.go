package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Query says which entries List returns.
type Query struct {
	Before int64  // only entries with a smaller ID; 0 starts with the newest
	Text   string // only entries whose request, client or model holds this, in any case
	Most   int    // how many; 0 means 100
}

const columns = "id, at, source, client, model, status, took, tokens, request, response"

// List returns entries, the newest first.
func (s *Store) List(ctx context.Context, q Query) ([]Entry, error) {
	where, args := []string{"1"}, []any{}
	if q.Before > 0 {
		where, args = append(where, "id < ?"), append(args, q.Before)
	}
	if q.Text != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(q.Text) + "%"
		where = append(where, `(CAST(request AS TEXT) LIKE ? ESCAPE '\' OR client LIKE ? ESCAPE '\' OR model LIKE ? ESCAPE '\')`)
		args = append(args, like, like, like)
	}
	if q.Most <= 0 {
		q.Most = 100
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM entries WHERE "+strings.Join(where, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, q.Most)...)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer rows.Close()
	var all []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	return all, nil
}

// Get returns one entry, or ErrGone.
func (s *Store) Get(ctx context.Context, id int64) (Entry, error) {
	e, err := scan(s.db.QueryRowContext(ctx, "SELECT "+columns+" FROM entries WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrGone
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read the history: %w", err)
	}
	return e, nil
}

// scan reads one row, of a list or alone.
func scan(row interface{ Scan(...any) error }) (Entry, error) {
	var e Entry
	var at, took int64
	err := row.Scan(&e.ID, &at, &e.Source, &e.Client, &e.Model, &e.Status, &took, &e.Tokens, &e.Request, &e.Response)
	e.At, e.Took = time.UnixMilli(at), time.Duration(took)*time.Microsecond
	return e, err
}

// Delete forgets one entry. It is no error if there is none.
func (s *Store) Delete(ctx context.Context, id int64) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE id = ?", id); err != nil {
		return fmt.Errorf("forget an entry: %w", err)
	}
	return s.compact(ctx)
}

// Clear forgets everything.
func (s *Store) Clear(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM entries"); err != nil {
		return fmt.Errorf("clear the history: %w", err)
	}
	return s.compact(ctx)
}

// compact gives space back and empties the log beside the file, in which deleted
// text would otherwise stay for a while.
func (s *Store) compact(ctx context.Context) error {
	for _, pragma := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := s.db.ExecContext(ctx, pragma); err != nil {
			return fmt.Errorf("compact the history: %w", err)
		}
	}
	return nil
}

// Size returns how many entries there are and what they count against Limits.Bytes.
func (s *Store) Size(ctx context.Context) (entries int, bytes int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM entries").Scan(&entries, &bytes)
	if err != nil {
		return 0, 0, fmt.Errorf("measure the history: %w", err)
	}
	return entries, bytes, nil
}
