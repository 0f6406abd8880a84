package engines

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		declarations []string
		wantErr      string
	}{
		"none":                 {},
		"one of YARN with two": {declarations: []string{"yarn/prod=http://rm-1:8088,https://rm-2:8090/"}},
		"two clusters":         {declarations: []string{"yarn/a=http://a:8088", "yarn/b=http://b:8088"}},
		"twice the same name":  {declarations: []string{"yarn/a=http://a:8088", "yarn/a=http://b:8088"}, wantErr: `"yarn/a" is declared twice`},
		"no name":              {declarations: []string{"yarn=http://a:8088"}, wantErr: "must be TYPE/NAME"},
		"no address":           {declarations: []string{"yarn/a="}, wantErr: "must be TYPE/NAME"},
		"an unknown type":      {declarations: []string{"flink/a=http://a"}, wantErr: `type "flink" must be one of`},
		"a host alone":         {declarations: []string{"yarn/a=rm-1:8088"}, wantErr: "must be a URL"},
		"an empty one of two":  {declarations: []string{"yarn/a=http://a:8088,"}, wantErr: "must be a URL"},
		"too many":             {declarations: make([]string, Most+1), wantErr: "at most 32"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(test.declarations)
			if test.wantErr == "" && (err != nil || len(got) != len(test.declarations)) {
				t.Errorf("Parse() = %v, %v", got, err)
			}
			if test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("Parse() = %v, want %q", err, test.wantErr)
			}
		})
	}
}

const oneApplication = `{"apps":{"app":[{"id":"a","user":"etl","name":"wordcount","state":"FINISHED","finalStatus":"SUCCEEDED","startedTime":1000,"finishedTime":61000}]}}`

// endless answers with more than anybody reads.
func endless(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.Copy(w, io.LimitReader(spaces{}, mostAnswer+1)) // the reader may stop
}

type spaces struct{}

func (spaces) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = ' '
	}
	return len(into), nil
}

func TestYARNIsReadFromTheActiveResourceManager(t *testing.T) {
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) } // the reader would complain
	}
	active := says(oneApplication)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirection is followed") }))
	t.Cleanup(elsewhere.Close)
	tests := map[string]struct {
		managers []http.HandlerFunc
		want     int
		wantErr  string
	}{
		"one":                        {managers: []http.HandlerFunc{active}, want: 1},
		"one with nothing":           {managers: []http.HandlerFunc{says(`{"apps":null}`)}},
		"a standby that redirects":   {managers: []http.HandlerFunc{http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP, active}, want: 1},
		"a standby that says so":     {managers: []http.HandlerFunc{says("This is standby RM."), active}, want: 1},
		"one that fails":             {managers: []http.HandlerFunc{http.NotFound}, wantErr: "404 Not Found"},
		"one that says another list": {managers: []http.HandlerFunc{says(`{"nodes":{}}`)}, wantErr: "no field apps"},
		"one that never stops":       {managers: []http.HandlerFunc{endless}, wantErr: "larger than 64 MiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var query string
			var addresses []string
			for _, manager := range test.managers {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					query = r.URL.Path + "?" + r.URL.RawQuery
					manager(w, r)
				}))
				t.Cleanup(server.Close)
				addresses = append(addresses, server.URL)
			}
			read, err := Parse([]string{"yarn/test=" + strings.Join(addresses, ",")})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got, err := read[0].Read(t.Context(), time.UnixMilli(5000))
				if len(got) != test.want || (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("Read() = %+v, %v; want %d, %q", got, err, test.want, test.wantErr)
				}
			}
			if want := "/ws/v1/cluster/apps?states=FINISHED,FAILED,KILLED&user.name=koordinator&finishedTimeBegin=5000"; query != want {
				t.Errorf("asked %s, want %s", query, want)
			}
		})
	}
}

// TestTrinoIsReadByAUser: a coordinator that lets anybody read wants a name all the same.
func TestTrinoIsReadByAUser(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/query" || r.Header.Get("X-Trino-User") == "" || r.Header.Get("X-Presto-User") == "" {
			http.Error(w, "who is it?", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `[{"queryId":"a","state":"FINISHED","query":"select 1"},{"queryId":"b","state":"RUNNING"}]`) // the reader would complain
	}))
	t.Cleanup(server.Close)
	read, err := Parse([]string{"trino/test=" + server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read[0].Read(t.Context(), time.Time{}); err != nil || len(got) != 1 || got[0].ID != "a" {
		t.Errorf("Read() = %+v, %v", got, err)
	}
	if read[0].Interval > 30*time.Second {
		t.Errorf("read every %s: a coordinator forgets queries within minutes", read[0].Interval)
	}
}

// TestAResourceManagerThatIsDown is an error, and the next read asks again.
func TestAResourceManagerThatIsDown(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	read, err := Parse([]string{"yarn/test=" + server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read[0].Read(t.Context(), time.Time{}); err == nil || !strings.Contains(err.Error(), server.URL) {
		t.Errorf("Read() = %+v, %v", got, err)
	}
}
