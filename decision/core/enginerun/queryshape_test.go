package enginerun

import "testing"

func TestQueriesOfOneShape(t *testing.T) {
	const want = "select a, count(*) from t where day = ? and n in (?) and x < ?"
	same := map[string]string{
		"with literals":           "SELECT a, count(*) FROM t WHERE day = '2030-01-07' AND n IN (1, 2, 3) AND x < 1.5e3",
		"on several lines":        "select a, count(*)\n  from t\n  where day = 'it''s' and n in (1,\n2) and x < 0",
		"with comments":           "select a, /* of 'all' */ count(*) from t -- that's it\nwhere day = '--' and n in (4) and x < 2",
		"with a string in a line": "select a, count(*) from t where day = '/*' and n in (4) and x < 2 /* */",
	}
	for name, text := range same {
		t.Run(name, func(t *testing.T) {
			if got := template(text); got != want {
				t.Errorf("template() = %q, want %q", got, want)
			}
		})
	}
	others := map[string]string{
		"another table":           "select a from t2",
		"a name in quotation":     `select a from "T 1"`,
		"another one":             `select a from "T 2"`,
		"rows that are inserted":  "insert into t values (?)",
		"names that have numbers": "select col1 from t1",
	}
	seen := map[string]string{}
	for name, text := range others {
		if other, known := seen[queryShape(text)]; known {
			t.Errorf("%s has the shape of %s", name, other)
		}
		seen[queryShape(text)] = name
	}
	if a, b := template("INSERT INTO t VALUES (1, 'x'), (2, 'y')"), template("insert into t values (?)"); a != b {
		t.Errorf("rows are %q and %q", a, b)
	}
}

// FuzzTemplate: a template is bounded by its query, whatever that is.
func FuzzTemplate(f *testing.F) {
	f.Add(`SELECT "a""b", 'c''d', X'00' -- e` + "\n/* f")
	f.Fuzz(func(t *testing.T, text string) {
		if once := template(text); len(once) > 3*len(text) {
			t.Errorf("template(%q) = %q", text, once)
		}
	})
}
