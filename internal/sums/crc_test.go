package sums

import "testing"

func TestSum(t *testing.T) {
	const want = 0xe3069283 // the check value of CRC-32C
	if got := CRC([]byte("123456789")); got != want {
		t.Errorf("%#x", got)
	}
	if got := CRC([]byte("1234"), nil, []byte("56789")); got != want {
		t.Errorf("two parts: %#x", got)
	}
	if got := UpdateCRC(CRC([]byte("1234")), []byte("56789")); got != want {
		t.Errorf("update: %#x", got)
	}
}
