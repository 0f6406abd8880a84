package trino

import (
	"errors"
	"testing"

	"koordinator.sh/koord/test/eventually"
)

func TestQueriesRunUntilTheyAreStopped(t *testing.T) {
	q := &queries{sql: sql, server: answers(t, map[string]string{
		"POST /v1/statement": `{"id": "q1", "data": [["ASIA", 12]], "stats": {"processedRows": 100}}`,
	})}
	stop := q.start(t.Context())
	eventually.True(t, "three queries have ended", func() bool { return len(q.past()) >= 3 })
	stop()
	ended := len(q.past())
	if rows, _ := q.rows(t.Context()); rows < 300 {
		t.Errorf("%d rows were read; want at least 300", rows)
	}
	if err := q.same("\"ASIA\",\"12\"\n"); err != nil || len(q.running()) > 0 || len(q.past()) != ended {
		t.Errorf("same = %v, queries %q run, and %d have ended; want nil, none and %d", err, q.running(), len(q.past()), ended)
	}
}

func TestAnswersMustBeTheSame(t *testing.T) {
	tests := map[string]struct {
		ended []ended
		want  bool
	}{
		"none":           {nil, true},
		"one":            {[]ended{{Answer: "a"}}, true},
		"the same":       {[]ended{{Answer: "a"}, {Answer: "a"}}, true},
		"another answer": {[]ended{{Answer: "a"}, {Answer: "a"}, {Answer: "b"}}, false},
		"a failure":      {[]ended{{Answer: "a"}, {Err: errors.New("node is gone")}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := (&queries{ended: tc.ended}).same("a"); (err == nil) != tc.want {
				t.Errorf("same = %v; want the same: %t", err, tc.want)
			}
		})
	}
}
