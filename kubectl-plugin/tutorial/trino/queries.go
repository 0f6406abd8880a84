package trino

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// pause after a query that failed.
const pause = 2 * time.Second

// queries runs one query again and again, and keeps what came of each.
type queries struct {
	server server
	sql    string

	mutex   sync.Mutex
	current progress
	// read are the rows that were read by the queries that have ended.
	read  int64
	ended []ended
}

// ended is a query that has.
type ended struct {
	ID     string
	Answer string
	Took   time.Duration
	Err    error
}

// start runs queries until the function that it returns is called, which waits for that.
func (q *queries) start(ctx context.Context) (stop func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for running.Err() == nil {
			if q.one(running) {
				continue
			}
			select {
			case <-running.Done():
			case <-time.After(pause):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// one runs the query once, and says whether it was answered.
func (q *queries) one(ctx context.Context) bool {
	began := time.Now()
	answer, err := q.server.query(ctx, q.sql, q.tell)
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if ctx.Err() == nil {
		q.ended = append(q.ended, ended{ID: q.current.ID, Answer: answer, Took: time.Since(began), Err: err})
	}
	q.read += q.current.Rows
	q.current = progress{}
	return err == nil
}

func (q *queries) tell(p progress) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.current = progress{ID: p.ID, Rows: max(p.Rows, q.current.Rows)}
}

// rows that were read so far.
func (q *queries) rows(context.Context) (int64, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.read + q.current.Rows, nil
}

// running is the ID of the query that runs; empty where none does.
func (q *queries) running() string {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.current.ID
}

// past are the queries that have ended, the first one first.
func (q *queries) past() []ended {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return append([]ended(nil), q.ended...)
}

// same returns an error unless all queries that have ended had the answer of the first one.
func (q *queries) same() error {
	past := q.past()
	for _, query := range past {
		if query.Err != nil {
			return query.Err
		}
		if query.Answer != past[0].Answer {
			return fmt.Errorf("query %s answered\n%s\nand query %s before it\n%s", query.ID, query.Answer, past[0].ID, past[0].Answer)
		}
	}
	return nil
}
