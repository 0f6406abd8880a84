package trino

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// pause after a query that failed.
const pause = 2 * time.Second

// atOnce is how many queries run at the same time: while one begins or ends, another one has tasks on all workers.
const atOnce = 2

// queries runs one query again and again, and keeps what came of each.
type queries struct {
	server server
	sql    string

	mutex   sync.Mutex
	current [atOnce]progress
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for i := range atOnce {
		running.Go(func() { q.repeat(ctx, i) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func (q *queries) repeat(ctx context.Context, i int) {
	for ctx.Err() == nil {
		if q.one(ctx, i) {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// one runs the query once, and says whether it was answered.
func (q *queries) one(ctx context.Context, i int) bool {
	began := time.Now()
	answer, err := q.server.query(ctx, q.sql, func(p progress) { q.tell(i, p) })
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if ctx.Err() == nil {
		q.ended = append(q.ended, ended{ID: q.current[i].ID, Answer: answer, Took: time.Since(began), Err: err})
	}
	q.read += q.current[i].Rows
	q.current[i] = progress{}
	return err == nil
}

func (q *queries) tell(i int, p progress) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.current[i] = progress{ID: p.ID, Rows: max(p.Rows, q.current[i].Rows)}
}

// rows that were read so far.
func (q *queries) rows(context.Context) (int64, error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	read := q.read
	for _, running := range q.current {
		read += running.Rows
	}
	return read, nil
}

// running are the IDs of the queries that run.
func (q *queries) running() (ids []string) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, running := range q.current {
		if running.ID != "" {
			ids = append(ids, running.ID)
		}
	}
	return ids
}

// past are the queries that have ended, the first one first.
func (q *queries) past() []ended {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return append([]ended(nil), q.ended...)
}

// same returns an error unless all queries that have ended had the same answer.
func (q *queries) same(answer string) error {
	for _, query := range q.past() {
		if query.Err != nil {
			return query.Err
		}
		if query.Answer != answer {
			return fmt.Errorf("query %s answered\n%s\nand the first one\n%s", query.ID, query.Answer, answer)
		}
	}
	return nil
}
