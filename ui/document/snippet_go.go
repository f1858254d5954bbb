package document

import (
	"strconv"
	"strings"
)

// AsGo returns a program that needs nothing but Go's standard library.
func (s Snapshot) AsGo(t Target) string {
	body := s.body(t)
	quoted := strconv.Quote(body)
	// A raw string reads better, where one can hold the text.
	if strconv.CanBackquote(strings.NewReplacer("\n", "", "\t", "").Replace(body)) {
		quoted = "`" + body + "`"
	}
	imports, auth := "", ""
	if t.Key {
		imports = "\t\"os\"\n"
		auth = "\treq.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"" + keyVariable + "\"))\n"
	}
	return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
` + imports + `	"strings"
)

const body = ` + quoted + `

func main() {
	req, err := http.NewRequest("POST", ` + strconv.Quote(t.url()) + `, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
` + auth + `	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s", resp.Status, answer)
	}
	fmt.Println(string(answer))
}
`
}
