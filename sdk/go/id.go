package holdfast

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

type uuid [16]byte

// NewID returns a UUIDv7 for a job, chosen by the client so that an enqueue can be repeated safely.
func NewID() string {
	var id uuid
	_, _ = rand.Read(id[:]) // never fails
	binary.BigEndian.PutUint64(id[:8], uint64(time.Now().UnixMilli())<<16|0x7000|uint64(id[6]&0xf)<<8|uint64(id[7]))
	return id.finished()
}

// finished sets the variant, and the last ten bits, which say in which of several databases the job is.
func (id uuid) finished() string {
	id[8] = id[8]&0x3f | 0x80
	id[14] &^= 0x03
	id[15] = 0
	return id.String()
}

func (id uuid) String() string {
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

func parseID(text string) (uuid, error) {
	var id uuid
	plain := strings.ReplaceAll(text, "-", "")
	if len(text) != 36 || len(plain) != 32 {
		return id, fmt.Errorf("%q is not a job id", text)
	}
	_, err := hex.Decode(id[:], []byte(plain))
	return id, err
}

// childID is the id of a job that another one starts, the same in all languages and whenever it is asked for: time counts how often
// the parent has started jobs under startedAs, place is that among those started with it.
func childID(parent uuid, startedAs string, time, place int) string {
	return derived(parent, fmt.Sprintf("%s/%d/%d", startedAs, time, place))
}

// derived has the milliseconds of the other id, so that both lie beside each other in an index, and a digest for the rest.
func derived(from uuid, name string) string {
	digest := sha256.Sum256(append(from[:], name...))
	id := from
	id[6] = 0x70 | digest[0]&0xf
	id[7] = digest[1]
	copy(id[8:], digest[8:16])
	return id.finished()
}
