package diagnostics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/audit"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/reviewhttp"
)

const (
	// defaultAuditSize and maxAuditSize bound the entries of one page.
	defaultAuditSize = 100
	maxAuditSize     = 2048
	// maxFollowers bounds those who follow the log at the same time.
	maxFollowers = 4
	// followWrite bounds how long a follower may take to receive entries.
	followWrite = 10 * time.Second
)

// auditAnswer is a page of the log, the newest entry first.
type auditAnswer struct {
	Entries []diagnosticsv1alpha1.AuditEntry `json:"entries"`
	// NextPageToken leads to the page of older entries; empty on the last one.
	NextPageToken string `json:"nextPageToken,omitempty"`
}

// auditPages serves the log: pages from the newest entry backwards by size and pageToken, or, with follow=true, what is added
// from now on, one entry a line.
type auditPages struct {
	log      *audit.Log
	instance string
	// followers that are served.
	followers atomic.Int32
}

// ServeHTTP serves one page, or follows.
func (a *auditPages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	size, err := pageSize(query.Get("size"))
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	if query.Get("follow") == "true" {
		a.follow(w, r, size)
		return
	}
	below, err := a.position(query.Get("pageToken"))
	if err != nil {
		reviewhttp.Fail(w, r, err)
		return
	}
	entries := a.log.Latest(below, size)
	answer := auditAnswer{Entries: AuditEntries(entries)}
	if count := len(entries); count > 0 && entries[count-1].Number > a.log.Oldest() {
		answer.NextPageToken = a.token(entries[count-1].Number)
	}
	reviewhttp.Reply(w, r, http.StatusOK, answer)
}

func pageSize(text string) (int, error) {
	if text == "" {
		return defaultAuditSize, nil
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < 1 || size > maxAuditSize {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("size %q must be between 1 and %d", text, maxAuditSize))
	}
	return size, nil
}

// token of the page below an entry. Each instance of the agent numbers its entries from 1 again, so tokens name the instance.
func (a *auditPages) token(below uint64) string {
	return a.instance + "." + strconv.FormatUint(below, 10)
}

// position that a token stands for; 0 for none.
func (a *auditPages) position(token string) (uint64, error) {
	if token == "" {
		return 0, nil
	}
	invalid := apierrors.NewConflict(diagnosticsv1alpha1.Resource("audit"), "pageToken", fmt.Errorf("%q is none of this instance of the agent: begin anew without one", token))
	instance, number, found := strings.Cut(token, ".")
	below, err := strconv.ParseUint(number, 10, 64)
	if !found || instance != a.instance || err != nil || below == 0 {
		return 0, invalid
	}
	if below < a.log.Oldest() || below > a.log.Last() {
		return 0, invalid
	}
	return below, nil
}

// follow writes the latest entries and then each that is added, until the client or the agent ends it.
func (a *auditPages) follow(w http.ResponseWriter, r *http.Request, size int) {
	defer a.followers.Add(-1)
	if a.followers.Add(1) > maxFollowers {
		reviewhttp.Fail(w, r, apierrors.NewTooManyRequests("too many follow the audit log", 10))
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a connection that cannot do it ends sooner
	w.Header().Set("Content-Type", "application/x-ndjson")
	encoder := json.NewEncoder(w)
	last := a.log.Last()
	last -= min(last, uint64(size))
	for {
		changed := a.log.Changed()
		entries := a.log.After(last, maxAuditSize)
		_ = control.SetWriteDeadline(time.Now().Add(followWrite))
		for _, entry := range AuditEntries(entries) {
			if encoder.Encode(entry) != nil {
				return
			}
		}
		if control.Flush() != nil {
			return
		}
		if count := len(entries); count > 0 {
			last = entries[count-1].Number
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// AuditEntries as answers have them.
func AuditEntries(entries []audit.Entry) []diagnosticsv1alpha1.AuditEntry {
	out := make([]diagnosticsv1alpha1.AuditEntry, len(entries))
	for i, entry := range entries {
		out[i] = diagnosticsv1alpha1.AuditEntry{
			Number: int64(entry.Number), Time: metav1.NewMicroTime(entry.Time), Owner: entry.Owner, Object: entry.Object, Old: entry.Old, New: entry.New,
			Why: entry.Why, Error: entry.Error,
		}
	}
	return out
}

// AuditPage is the entries that a question asks for.
func AuditPage(log *audit.Log, instance string, question *diagnosticsv1alpha1.AuditQuestion) *diagnosticsv1alpha1.AuditPage {
	size := defaultAuditSize
	if question != nil && question.Size != nil {
		size = int(min(max(*question.Size, 1), maxAuditSize))
	}
	last := log.Last()
	from := last - min(last, uint64(size))
	following := question != nil && question.After != nil
	if following {
		from = 0
		if question.Instance == "" || question.Instance == instance {
			from = uint64(max(*question.After, 0))
		}
	}
	entries := log.After(from, size)
	out := &diagnosticsv1alpha1.AuditPage{Entries: AuditEntries(entries), Last: int64(from)}
	if count := len(entries); count > 0 {
		out.Last = int64(entries[count-1].Number)
		if following {
			out.Missed = int64(entries[0].Number - from - 1)
		}
	} else if out.Last > int64(last) {
		out.Last = int64(last)
	}
	return out
}
