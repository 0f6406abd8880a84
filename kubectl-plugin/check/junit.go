package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// junitSuites is the root of a JUnit report.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

// junitSuite is a category.
type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

// junitCase is a check.
type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Failure   *junitProblem `xml:"failure,omitempty"`
	Skipped   *junitProblem `xml:"skipped,omitempty"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML, a test suite for each category and a test case for each check. JUnit has no warnings: a
// warning is a failure where the least severity says so, and otherwise output of a test that passed. Unknown checks are skipped tests.
func WriteJUnit(w io.Writer, report *Report, least diagnosticsv1alpha1.Severity) error {
	suites := junitSuites{Name: "koordctl check"}
	for i := range report.Checks {
		c := &report.Checks[i]
		at := slices.IndexFunc(suites.Suites, func(s junitSuite) bool { return s.Name == string(c.Category) })
		if at < 0 {
			at = len(suites.Suites)
			suites.Suites = append(suites.Suites, junitSuite{Name: string(c.Category), Timestamp: report.CheckedAt.UTC().Format("2006-01-02T15:04:05")})
		}
		suites.Suites[at].add(junitCaseOf(c, least))
	}
	for i := range suites.Suites {
		suites.Tests += suites.Suites[i].Tests
		suites.Failures += suites.Suites[i].Failures
		suites.Skipped += suites.Suites[i].Skipped
	}
	text, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitCaseOf(c *Result, least diagnosticsv1alpha1.Severity) junitCase {
	out := junitCase{Name: c.ID, ClassName: "koordctl.check." + string(c.Category)}
	fails := c.State == Failed || c.State == Warning && (least == diagnosticsv1alpha1.SeverityWarning || least == diagnosticsv1alpha1.SeverityInfo)
	switch {
	case fails:
		out.Failure = &junitProblem{Message: c.headline(), Text: c.text()}
		if len(c.Findings) > 0 {
			out.Failure.Type = c.Findings[0].Code
		}
	case c.State == Skipped || c.State == Unknown:
		out.Skipped = &junitProblem{Message: strings.ToLower(string(c.State)) + ": " + c.Detail}
	case len(c.Findings) > 0:
		out.Output = c.text()
	default:
		out.Output = c.Detail
	}
	return out
}

// headline is the first finding, or the detail of a result without one.
func (r *Result) headline() string {
	if len(r.Findings) > 0 {
		return r.Findings[0].Message
	}
	return r.Detail
}

// text is all findings, each with what helps.
func (r *Result) text() string {
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "%s %s: %s\n%s\n%s\n", f.Severity, f.Code, f.Message, f.Help(), f.Documentation)
	}
	return b.String()
}
