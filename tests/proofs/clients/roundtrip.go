// Reads one event per line, `ce_type`, tab, JSON, by its type, and writes it again.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"fathom"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		kind, value, _ := strings.Cut(lines.Text(), "\t")
		event := fathom.Events[kind]()
		if err := json.Unmarshal([]byte(value), event); err != nil {
			panic(fmt.Errorf("%s: %w", kind, err))
		}
		written, err := json.Marshal(event)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(written))
	}
}
