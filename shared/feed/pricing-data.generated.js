/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["default"] || ($protobuf.roots["default"] = {});

export const PricingData = $root.PricingData = (() => {

    /**
     * Properties of a PricingData.
     * @typedef {Object} PricingData.$Properties
     * @property {string|null} [id] PricingData id
     * @property {number|null} [price] PricingData price
     * @property {Long|null} [time] PricingData time
     * @property {string|null} [currency] PricingData currency
     * @property {string|null} [exchange] PricingData exchange
     * @property {number|null} [quote_type] PricingData quote_type
     * @property {number|null} [market_hours] PricingData market_hours
     * @property {number|null} [change_percent] PricingData change_percent
     * @property {Long|null} [day_volume] PricingData day_volume
     * @property {number|null} [day_high] PricingData day_high
     * @property {number|null} [day_low] PricingData day_low
     * @property {number|null} [change] PricingData change
     * @property {string|null} [short_name] PricingData short_name
     * @property {Long|null} [expire_date] PricingData expire_date
     * @property {number|null} [open_price] PricingData open_price
     * @property {number|null} [previous_close] PricingData previous_close
     * @property {number|null} [strike_price] PricingData strike_price
     * @property {string|null} [underlying_symbol] PricingData underlying_symbol
     * @property {Long|null} [open_interest] PricingData open_interest
     * @property {Long|null} [options_type] PricingData options_type
     * @property {Long|null} [mini_option] PricingData mini_option
     * @property {Long|null} [last_size] PricingData last_size
     * @property {number|null} [bid] PricingData bid
     * @property {Long|null} [bid_size] PricingData bid_size
     * @property {number|null} [ask] PricingData ask
     * @property {Long|null} [ask_size] PricingData ask_size
     * @property {Long|null} [price_hint] PricingData price_hint
     * @property {Long|null} [vol_24hr] PricingData vol_24hr
     * @property {Long|null} [vol_all_currencies] PricingData vol_all_currencies
     * @property {string|null} [from_currency] PricingData from_currency
     * @property {string|null} [last_market] PricingData last_market
     * @property {number|null} [circulating_supply] PricingData circulating_supply
     * @property {number|null} [market_cap] PricingData market_cap
     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
     */

    /**
     * Properties of a PricingData.
     * @exports IPricingData
     * @interface IPricingData
     * @augments PricingData.$Properties
     * @deprecated Use PricingData.$Properties instead.
     */

    /**
     * Shape of a PricingData.
     * @typedef {PricingData.$Properties} PricingData.$Shape
     */

    /**
     * Constructs a new PricingData.
     * @exports PricingData
     * @classdesc Represents a PricingData.
     * @constructor
     * @param {PricingData.$Properties=} [properties] Properties to set
     * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
     */
    const PricingData = function (properties) {
        if (properties)
            for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                if (properties[keys[i]] != null && keys[i] !== "__proto__")
                    this[keys[i]] = properties[keys[i]];
    };

    /**
     * PricingData id.
     * @member {string} id
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.id = "";

    /**
     * PricingData price.
     * @member {number} price
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.price = 0;

    /**
     * PricingData time.
     * @member {Long} time
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.time = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData currency.
     * @member {string} currency
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.currency = "";

    /**
     * PricingData exchange.
     * @member {string} exchange
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.exchange = "";

    /**
     * PricingData quote_type.
     * @member {number} quote_type
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.quote_type = 0;

    /**
     * PricingData market_hours.
     * @member {number} market_hours
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.market_hours = 0;

    /**
     * PricingData change_percent.
     * @member {number} change_percent
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.change_percent = 0;

    /**
     * PricingData day_volume.
     * @member {Long} day_volume
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.day_volume = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData day_high.
     * @member {number} day_high
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.day_high = 0;

    /**
     * PricingData day_low.
     * @member {number} day_low
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.day_low = 0;

    /**
     * PricingData change.
     * @member {number} change
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.change = 0;

    /**
     * PricingData short_name.
     * @member {string} short_name
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.short_name = "";

    /**
     * PricingData expire_date.
     * @member {Long} expire_date
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.expire_date = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData open_price.
     * @member {number} open_price
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.open_price = 0;

    /**
     * PricingData previous_close.
     * @member {number} previous_close
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.previous_close = 0;

    /**
     * PricingData strike_price.
     * @member {number} strike_price
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.strike_price = 0;

    /**
     * PricingData underlying_symbol.
     * @member {string} underlying_symbol
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.underlying_symbol = "";

    /**
     * PricingData open_interest.
     * @member {Long} open_interest
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.open_interest = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData options_type.
     * @member {Long} options_type
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.options_type = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData mini_option.
     * @member {Long} mini_option
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.mini_option = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData last_size.
     * @member {Long} last_size
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.last_size = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData bid.
     * @member {number} bid
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.bid = 0;

    /**
     * PricingData bid_size.
     * @member {Long} bid_size
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.bid_size = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData ask.
     * @member {number} ask
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.ask = 0;

    /**
     * PricingData ask_size.
     * @member {Long} ask_size
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.ask_size = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData price_hint.
     * @member {Long} price_hint
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.price_hint = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData vol_24hr.
     * @member {Long} vol_24hr
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.vol_24hr = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData vol_all_currencies.
     * @member {Long} vol_all_currencies
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.vol_all_currencies = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

    /**
     * PricingData from_currency.
     * @member {string} from_currency
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.from_currency = "";

    /**
     * PricingData last_market.
     * @member {string} last_market
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.last_market = "";

    /**
     * PricingData circulating_supply.
     * @member {number} circulating_supply
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.circulating_supply = 0;

    /**
     * PricingData market_cap.
     * @member {number} market_cap
     * @memberof PricingData
     * @instance
     */
    PricingData.prototype.market_cap = 0;

    /**
     * Encodes the specified PricingData message. Does not implicitly {@link PricingData.verify|verify} messages.
     * @function encode
     * @memberof PricingData
     * @static
     * @param {PricingData.$Properties} message PricingData message or plain object to encode
     * @param {$protobuf.Writer} [writer] Writer to encode to
     * @returns {$protobuf.Writer} Writer
     */
    PricingData.encode = function (message, writer, _depth) {
        if (!writer)
            writer = $Writer.create();
        if (_depth === $undefined)
            _depth = 0;
        if (_depth > $util.recursionLimit)
            throw $Error("max depth exceeded");
        if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
            writer.uint32(/* id 1, wireType 2 =*/10).string(message.id);
        if (message.price != null && $Object.hasOwnProperty.call(message, "price") && !$Object.is(message.price, 0))
            writer.uint32(/* id 2, wireType 5 =*/21).float(message.price);
        if (message.time != null && $Object.hasOwnProperty.call(message, "time") && (typeof message.time === "object" ? message.time.low || message.time.high : message.time !== 0))
            writer.uint32(/* id 3, wireType 0 =*/24).sint64(message.time);
        if (message.currency != null && $Object.hasOwnProperty.call(message, "currency") && message.currency !== "")
            writer.uint32(/* id 4, wireType 2 =*/34).string(message.currency);
        if (message.exchange != null && $Object.hasOwnProperty.call(message, "exchange") && message.exchange !== "")
            writer.uint32(/* id 5, wireType 2 =*/42).string(message.exchange);
        if (message.quote_type != null && $Object.hasOwnProperty.call(message, "quote_type") && message.quote_type !== 0)
            writer.uint32(/* id 6, wireType 0 =*/48).int32(message.quote_type);
        if (message.market_hours != null && $Object.hasOwnProperty.call(message, "market_hours") && message.market_hours !== 0)
            writer.uint32(/* id 7, wireType 0 =*/56).int32(message.market_hours);
        if (message.change_percent != null && $Object.hasOwnProperty.call(message, "change_percent") && !$Object.is(message.change_percent, 0))
            writer.uint32(/* id 8, wireType 5 =*/69).float(message.change_percent);
        if (message.day_volume != null && $Object.hasOwnProperty.call(message, "day_volume") && (typeof message.day_volume === "object" ? message.day_volume.low || message.day_volume.high : message.day_volume !== 0))
            writer.uint32(/* id 9, wireType 0 =*/72).sint64(message.day_volume);
        if (message.day_high != null && $Object.hasOwnProperty.call(message, "day_high") && !$Object.is(message.day_high, 0))
            writer.uint32(/* id 10, wireType 5 =*/85).float(message.day_high);
        if (message.day_low != null && $Object.hasOwnProperty.call(message, "day_low") && !$Object.is(message.day_low, 0))
            writer.uint32(/* id 11, wireType 5 =*/93).float(message.day_low);
        if (message.change != null && $Object.hasOwnProperty.call(message, "change") && !$Object.is(message.change, 0))
            writer.uint32(/* id 12, wireType 5 =*/101).float(message.change);
        if (message.short_name != null && $Object.hasOwnProperty.call(message, "short_name") && message.short_name !== "")
            writer.uint32(/* id 13, wireType 2 =*/106).string(message.short_name);
        if (message.expire_date != null && $Object.hasOwnProperty.call(message, "expire_date") && (typeof message.expire_date === "object" ? message.expire_date.low || message.expire_date.high : message.expire_date !== 0))
            writer.uint32(/* id 14, wireType 0 =*/112).sint64(message.expire_date);
        if (message.open_price != null && $Object.hasOwnProperty.call(message, "open_price") && !$Object.is(message.open_price, 0))
            writer.uint32(/* id 15, wireType 5 =*/125).float(message.open_price);
        if (message.previous_close != null && $Object.hasOwnProperty.call(message, "previous_close") && !$Object.is(message.previous_close, 0))
            writer.uint32(/* id 16, wireType 5 =*/133).float(message.previous_close);
        if (message.strike_price != null && $Object.hasOwnProperty.call(message, "strike_price") && !$Object.is(message.strike_price, 0))
            writer.uint32(/* id 17, wireType 5 =*/141).float(message.strike_price);
        if (message.underlying_symbol != null && $Object.hasOwnProperty.call(message, "underlying_symbol") && message.underlying_symbol !== "")
            writer.uint32(/* id 18, wireType 2 =*/146).string(message.underlying_symbol);
        if (message.open_interest != null && $Object.hasOwnProperty.call(message, "open_interest") && (typeof message.open_interest === "object" ? message.open_interest.low || message.open_interest.high : message.open_interest !== 0))
            writer.uint32(/* id 19, wireType 0 =*/152).sint64(message.open_interest);
        if (message.options_type != null && $Object.hasOwnProperty.call(message, "options_type") && (typeof message.options_type === "object" ? message.options_type.low || message.options_type.high : message.options_type !== 0))
            writer.uint32(/* id 20, wireType 0 =*/160).sint64(message.options_type);
        if (message.mini_option != null && $Object.hasOwnProperty.call(message, "mini_option") && (typeof message.mini_option === "object" ? message.mini_option.low || message.mini_option.high : message.mini_option !== 0))
            writer.uint32(/* id 21, wireType 0 =*/168).sint64(message.mini_option);
        if (message.last_size != null && $Object.hasOwnProperty.call(message, "last_size") && (typeof message.last_size === "object" ? message.last_size.low || message.last_size.high : message.last_size !== 0))
            writer.uint32(/* id 22, wireType 0 =*/176).sint64(message.last_size);
        if (message.bid != null && $Object.hasOwnProperty.call(message, "bid") && !$Object.is(message.bid, 0))
            writer.uint32(/* id 23, wireType 5 =*/189).float(message.bid);
        if (message.bid_size != null && $Object.hasOwnProperty.call(message, "bid_size") && (typeof message.bid_size === "object" ? message.bid_size.low || message.bid_size.high : message.bid_size !== 0))
            writer.uint32(/* id 24, wireType 0 =*/192).sint64(message.bid_size);
        if (message.ask != null && $Object.hasOwnProperty.call(message, "ask") && !$Object.is(message.ask, 0))
            writer.uint32(/* id 25, wireType 5 =*/205).float(message.ask);
        if (message.ask_size != null && $Object.hasOwnProperty.call(message, "ask_size") && (typeof message.ask_size === "object" ? message.ask_size.low || message.ask_size.high : message.ask_size !== 0))
            writer.uint32(/* id 26, wireType 0 =*/208).sint64(message.ask_size);
        if (message.price_hint != null && $Object.hasOwnProperty.call(message, "price_hint") && (typeof message.price_hint === "object" ? message.price_hint.low || message.price_hint.high : message.price_hint !== 0))
            writer.uint32(/* id 27, wireType 0 =*/216).sint64(message.price_hint);
        if (message.vol_24hr != null && $Object.hasOwnProperty.call(message, "vol_24hr") && (typeof message.vol_24hr === "object" ? message.vol_24hr.low || message.vol_24hr.high : message.vol_24hr !== 0))
            writer.uint32(/* id 28, wireType 0 =*/224).sint64(message.vol_24hr);
        if (message.vol_all_currencies != null && $Object.hasOwnProperty.call(message, "vol_all_currencies") && (typeof message.vol_all_currencies === "object" ? message.vol_all_currencies.low || message.vol_all_currencies.high : message.vol_all_currencies !== 0))
            writer.uint32(/* id 29, wireType 0 =*/232).sint64(message.vol_all_currencies);
        if (message.from_currency != null && $Object.hasOwnProperty.call(message, "from_currency") && message.from_currency !== "")
            writer.uint32(/* id 30, wireType 2 =*/242).string(message.from_currency);
        if (message.last_market != null && $Object.hasOwnProperty.call(message, "last_market") && message.last_market !== "")
            writer.uint32(/* id 31, wireType 2 =*/250).string(message.last_market);
        if (message.circulating_supply != null && $Object.hasOwnProperty.call(message, "circulating_supply") && !$Object.is(message.circulating_supply, 0))
            writer.uint32(/* id 32, wireType 1 =*/257).double(message.circulating_supply);
        if (message.market_cap != null && $Object.hasOwnProperty.call(message, "market_cap") && !$Object.is(message.market_cap, 0))
            writer.uint32(/* id 33, wireType 1 =*/265).double(message.market_cap);
        if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
            for (let i = 0; i < message.$unknowns.length; ++i)
                writer.raw(message.$unknowns[i]);
        return writer;
    };

    /**
     * Decodes a PricingData message from the specified reader or buffer.
     * @function decode
     * @memberof PricingData
     * @static
     * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
     * @param {number} [length] Message length if known beforehand
     * @returns {PricingData & PricingData.$Shape} PricingData
     * @throws {Error} If the payload is not a reader or valid buffer
     * @throws {$protobuf.util.ProtocolError} If required fields are missing
     */
    PricingData.decode = function (reader, length, _end, _depth, _target) {
        if (!(reader instanceof $Reader))
            reader = $Reader.create(reader);
        if (_depth === $undefined)
            _depth = 0;
        if (_depth > $Reader.recursionLimit)
            throw $Error("max depth exceeded");
        let end, message, value;
        if (length === $undefined)
            end = reader.len;
        else {
            end = reader.pos + length;
            if (end > reader.len)
                throw $RangeError("index out of range");
            length = reader.len;
            reader.len = end;
        }
        message = _target || new $root.PricingData();
        while (reader.pos < end) {
            let start = reader.pos;
            let tag = reader.tag();
            if (tag === _end) {
                _end = $undefined;
                break;
            }
            let wireType = tag & 7;
            switch (tag >>>= 3) {
            case 1: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.id = value;
                    else
                        delete message.id;
                    continue;
                }
            case 2: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.price = value;
                    else
                        delete message.price;
                    continue;
                }
            case 3: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.time = value;
                    else
                        delete message.time;
                    continue;
                }
            case 4: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.currency = value;
                    else
                        delete message.currency;
                    continue;
                }
            case 5: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.exchange = value;
                    else
                        delete message.exchange;
                    continue;
                }
            case 6: {
                    if (wireType !== 0)
                        break;
                    if (value = reader.int32())
                        message.quote_type = value;
                    else
                        delete message.quote_type;
                    continue;
                }
            case 7: {
                    if (wireType !== 0)
                        break;
                    if (value = reader.int32())
                        message.market_hours = value;
                    else
                        delete message.market_hours;
                    continue;
                }
            case 8: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.change_percent = value;
                    else
                        delete message.change_percent;
                    continue;
                }
            case 9: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.day_volume = value;
                    else
                        delete message.day_volume;
                    continue;
                }
            case 10: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.day_high = value;
                    else
                        delete message.day_high;
                    continue;
                }
            case 11: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.day_low = value;
                    else
                        delete message.day_low;
                    continue;
                }
            case 12: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.change = value;
                    else
                        delete message.change;
                    continue;
                }
            case 13: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.short_name = value;
                    else
                        delete message.short_name;
                    continue;
                }
            case 14: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.expire_date = value;
                    else
                        delete message.expire_date;
                    continue;
                }
            case 15: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.open_price = value;
                    else
                        delete message.open_price;
                    continue;
                }
            case 16: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.previous_close = value;
                    else
                        delete message.previous_close;
                    continue;
                }
            case 17: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.strike_price = value;
                    else
                        delete message.strike_price;
                    continue;
                }
            case 18: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.underlying_symbol = value;
                    else
                        delete message.underlying_symbol;
                    continue;
                }
            case 19: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.open_interest = value;
                    else
                        delete message.open_interest;
                    continue;
                }
            case 20: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.options_type = value;
                    else
                        delete message.options_type;
                    continue;
                }
            case 21: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.mini_option = value;
                    else
                        delete message.mini_option;
                    continue;
                }
            case 22: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.last_size = value;
                    else
                        delete message.last_size;
                    continue;
                }
            case 23: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.bid = value;
                    else
                        delete message.bid;
                    continue;
                }
            case 24: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.bid_size = value;
                    else
                        delete message.bid_size;
                    continue;
                }
            case 25: {
                    if (wireType !== 5)
                        break;
                    if (!$Object.is(value = reader.float(), 0))
                        message.ask = value;
                    else
                        delete message.ask;
                    continue;
                }
            case 26: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.ask_size = value;
                    else
                        delete message.ask_size;
                    continue;
                }
            case 27: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.price_hint = value;
                    else
                        delete message.price_hint;
                    continue;
                }
            case 28: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.vol_24hr = value;
                    else
                        delete message.vol_24hr;
                    continue;
                }
            case 29: {
                    if (wireType !== 0)
                        break;
                    if (typeof (value = reader.sint64()) === "object" ? value.low || value.high : value !== 0)
                        message.vol_all_currencies = value;
                    else
                        delete message.vol_all_currencies;
                    continue;
                }
            case 30: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.from_currency = value;
                    else
                        delete message.from_currency;
                    continue;
                }
            case 31: {
                    if (wireType !== 2)
                        break;
                    if ((value = reader.stringVerify()).length)
                        message.last_market = value;
                    else
                        delete message.last_market;
                    continue;
                }
            case 32: {
                    if (wireType !== 1)
                        break;
                    if (!$Object.is(value = reader.double(), 0))
                        message.circulating_supply = value;
                    else
                        delete message.circulating_supply;
                    continue;
                }
            case 33: {
                    if (wireType !== 1)
                        break;
                    if (!$Object.is(value = reader.double(), 0))
                        message.market_cap = value;
                    else
                        delete message.market_cap;
                    continue;
                }
            }
            reader.skipType(wireType, _depth, tag);
            if (!reader.discardUnknown) {
                $util.makeProp(message, "$unknowns", false);
                (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
            }
        }
        if (length !== $undefined) {
            if (reader.pos !== end)
                throw $RangeError("index out of range");
            reader.len = length;
        }
        if (_end !== $undefined)
            throw $Error("missing end group");
        return message;
    };

    return PricingData;
})();

export {
  $root as default
};
